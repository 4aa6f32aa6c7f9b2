// The CUDA runtime's calls besides launches. They succeed, fail as a GPU would make them fail, or end the
// recording with the reason why a plan cannot express them.
#pragma once

namespace hotloop {
cudaError_t set(void *to, const void *pattern, uint32_t pattern_bytes, size_t bytes);
cudaError_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, const char *call);
cudaError_t free_device(void *address);
cudaError_t attribute(int *value, cudaDeviceAttr attribute);
void properties(cudaDeviceProp *properties);
cudaError_t function_attribute(const void *kernel, cudaFuncAttribute attribute, int value);
int blocks_per_multiprocessor(int threads, size_t shared);
cudaError_t begin_capture();
cudaError_t end_capture(cudaGraph_t *graph);
cudaError_t play(cudaGraphExec_t graph);
bool is_capturing();
template <class T>
T handle() {
    static uintptr_t made = 0x1000;
    return (T)(made += 0x10);
}
}  // namespace hotloop

const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
inline cudaError_t cudaGetLastError() { return hotloop::last_error(true); }
inline cudaError_t cudaPeekAtLastError() { return hotloop::last_error(false); }

// Memory.
inline cudaError_t cudaMalloc(void **address, size_t bytes) {
    *address = hotloop::allocate(bytes);
    return *address || !bytes ? cudaSuccess : hotloop::fail(cudaErrorMemoryAllocation);
}
template <class T>
cudaError_t cudaMalloc(T **address, size_t bytes) { return cudaMalloc((void **)address, bytes); }
template <class T>
cudaError_t cudaMallocAsync(T **address, size_t bytes, cudaStream_t) { return cudaMalloc((void **)address, bytes); }
template <class T>
cudaError_t cudaMallocPitch(T **address, size_t *pitch, size_t width, size_t height) {
    *pitch = (width + 511) / 512 * 512;
    return cudaMalloc((void **)address, *pitch * height);
}
template <class T>
cudaError_t cudaMallocManaged(T **, size_t, unsigned = cudaMemAttachGlobal) {
    hotloop::refuse_of("cudaMallocManaged", "a plan has no memory that host and GPU share; use cudaMalloc");
}
inline cudaError_t cudaFree(void *address) { return hotloop::free_device(address); }
inline cudaError_t cudaFreeAsync(void *address, cudaStream_t) { return hotloop::free_device(address); }
template <class T>
cudaError_t cudaMallocHost(T **address, size_t bytes, unsigned = 0) {
    *address = (T *)malloc(bytes);
    return *address ? cudaSuccess : hotloop::fail(cudaErrorMemoryAllocation);
}
template <class T>
cudaError_t cudaHostAlloc(T **address, size_t bytes, unsigned) { return cudaMallocHost(address, bytes); }
inline cudaError_t cudaFreeHost(void *address) { free(address); return cudaSuccess; }
inline cudaError_t cudaHostRegister(void *, size_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaHostUnregister(void *) { return cudaSuccess; }
template <class T>
cudaError_t cudaHostGetDevicePointer(T **, void *, unsigned) {
    hotloop::refuse_of("cudaHostGetDevicePointer", "kernels of a plan read no memory of the host");
}
inline cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
    *free = *total = hotloop::traits.memory_bytes;
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void *to, int value, size_t bytes) {
    const unsigned char pattern = (unsigned char)value;
    return hotloop::set(to, &pattern, 1, bytes);
}
inline cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t = 0) { return cudaMemset(to, value, bytes); }
inline cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < height && !error; row++) error = cudaMemset((char *)to + row * pitch, value, width);
    return error;
}
inline cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t = 0) {
    return cudaMemset2D(to, pitch, value, width, height);
}
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    return hotloop::copy(to, from, bytes, kind, "cudaMemcpy");
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t = 0) {
    return hotloop::copy(to, from, bytes, kind, "cudaMemcpyAsync");
}
inline cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < height && !error; row++)
        error = hotloop::copy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind, "cudaMemcpy2D");
    return error;
}
inline cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t = 0) {
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
inline cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t = 0) { return cudaSuccess; }
inline cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *address) {
    const bool device = hotloop::is_device(address);
    *attributes = {device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered, 0, device ? (void *)address : nullptr, device ? nullptr : (void *)address};
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int) { *pool = (cudaMemPool_t)0x10; return cudaSuccess; }
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) { return cudaSuccess; }
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }
inline cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t) { return cudaSuccess; }
template <class T>
cudaError_t cudaMallocFromPoolAsync(T **address, size_t bytes, cudaMemPool_t, cudaStream_t) { return cudaMalloc((void **)address, bytes); }

// Variables of the GPU: here they are variables of the host, and their addresses name them.
template <class T>
cudaError_t cudaGetSymbolAddress(void **address, const T &symbol) {
    *address = hotloop::variable(&symbol);
    return cudaSuccess;
}
template <class P, class T>
cudaError_t cudaGetSymbolAddress(P **address, const T &symbol) { return cudaGetSymbolAddress((void **)address, symbol); }
template <class T>
cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol) { *bytes = sizeof(symbol); return cudaSuccess; }
template <class T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return hotloop::copy((char *)hotloop::variable(&symbol) + offset, from, bytes, kind, "cudaMemcpyToSymbol");
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t = 0) {
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return hotloop::copy(to, (const char *)hotloop::variable(&symbol) + offset, bytes, kind, "cudaMemcpyFromSymbol");
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t = 0) {
    return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}

// Streams and events: what the host asks for happens in that order.
inline cudaError_t cudaStreamCreate(cudaStream_t *stream) { *stream = hotloop::handle<cudaStream_t>(); return cudaSuccess; }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) { return cudaStreamCreate(stream); }
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned, int) { return cudaStreamCreate(stream); }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cudaSuccess; }
inline cudaError_t cudaStreamGetPriority(cudaStream_t, int *priority) { *priority = 0; return cudaSuccess; }
inline cudaError_t cudaStreamGetFlags(cudaStream_t, unsigned *flags) { *flags = 0; return cudaSuccess; }
inline cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status) {
    *status = hotloop::is_capturing() ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { *least = 0; *greatest = -5; return cudaSuccess; }
inline cudaError_t cudaEventCreate(cudaEvent_t *event) { *event = hotloop::handle<cudaEvent_t>(); return cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) { return cudaEventCreate(event); }
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0) { return cudaSuccess; }
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t, cudaStream_t = 0, unsigned = 0) { return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
// Time stands still here; host code that only prints it goes on.
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t) { *ms = 0.0f; return cudaSuccess; }
inline cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void *) {
    hotloop::refuse_of("cudaLaunchHostFunc", "a plan holds no functions of the host");
}
inline cudaError_t cudaStreamAddCallback(cudaStream_t, cudaStreamCallback_t, void *, unsigned) {
    hotloop::refuse_of("cudaStreamAddCallback", "a plan holds no functions of the host");
}

// The device.
inline cudaError_t cudaGetDeviceCount(int *count) { *count = 1; return cudaSuccess; }
inline cudaError_t cudaGetDevice(int *device) { *device = 0; return cudaSuccess; }
inline cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : hotloop::fail(cudaErrorInvalidDevice); }
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
inline cudaError_t cudaGetDeviceFlags(unsigned *flags) { *flags = 0; return cudaSuccess; }
inline cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaThreadSynchronize() { return cudaSuccess; }
inline cudaError_t cudaDeviceReset() { hotloop::refuse_of("cudaDeviceReset", "the GPU is not the host code's own"); }
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) { return hotloop::attribute(value, attribute); }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) { hotloop::properties(properties); return cudaSuccess; }
inline cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t) {
    if (limit == cudaLimitPersistingL2CacheSize) hotloop::refuse_of("cudaDeviceSetLimit", "caches are not to keep anything between runs");
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit) { *value = 0; return cudaSuccess; }
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *cache) { *cache = cudaFuncCachePreferNone; return cudaSuccess; }
inline cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config) { *config = cudaSharedMemBankSizeFourByte; return cudaSuccess; }
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) { *can = 0; return cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int *version) { *version = CUDART_VERSION; return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int *version) { *version = CUDART_VERSION; return cudaSuccess; }
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }

// Graphs: what was captured happens again.
inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) { return hotloop::begin_capture(); }
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph) { return hotloop::end_capture(graph); }
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long = 0) {
    *executable = (cudaGraphExec_t)graph;
    return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, cudaGraphNode_t *, char *, size_t) {
    return cudaGraphInstantiate(executable, graph);
}
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long) {
    return cudaGraphInstantiate(executable, graph);
}
inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) { return hotloop::play(executable); }
inline cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return cudaSuccess; }
