// Asks the device much before it launches, names the errors that it knows, and allocates from a pool.
#include <cuda_runtime.h>
#include <stdexcept>

static const char* named(cudaError_t error) {
    switch (error) {
    case cudaSuccess: return "success";
    case cudaErrorInvalidResourceHandle: return "no such stream";
    case cudaErrorMisalignedAddress: return "misaligned address";
    case cudaErrorIllegalInstruction: return "illegal instruction";
    case cudaErrorLaunchTimeout: return "timeout";
    case cudaErrorAssert: return "assertion";
    case cudaErrorInsufficientDriver: return "old driver";
    case cudaErrorNoKernelImageForDevice: return "no kernel for this device";
    default: return cudaGetErrorString(error);
    }
}

#define CHECK(call) \
    do { \
        const cudaError_t error_ = (call); \
        if (error_ != cudaSuccess) throw std::runtime_error(named(error_)); \
    } while (0)

__global__ void relu(const float* x, float* y, long long n, const int* from) {
    for (long long i = *from + blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
        y[i] = fmaxf(x[i], 0.0f);
    }
}

extern "C" void solve(const float* x, float* y, long long n) {
    int device = 0, mode = 1, engines = 0;
    unsigned flags = 0;
    CHECK(cudaInitDevice(device, 0, 0));
    CHECK(cudaGetDeviceFlags(&flags));
    CHECK(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device));
    CHECK(cudaDeviceGetAttribute(&engines, cudaDevAttrAsyncEngineCount, device));
    cudaDeviceProp about;
    CHECK(cudaGetDeviceProperties(&about, device));
    if (about.computeMode != mode || engines != about.asyncEngineCount || !about.streamPrioritiesSupported) return;
    size_t shared = 0;
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, relu, 2, 256));
    cudaMemPool_t pool;
    CHECK(cudaDeviceGetMemPool(&pool, device));
    int* from;
    CHECK(cudaMallocFromPoolAsync(&from, sizeof *from, pool, 0));
    CHECK(cudaMemsetAsync(from, 0, sizeof *from));
    relu<<<about.multiProcessorCount * 4, 256>>>(x, y, n, from);
    CHECK(cudaGetLastError());
    CHECK(cudaFreeAsync(from, 0));
}
