// Calls that launch kernels, or ask about them.
#pragma once

namespace hotloop {
cudaError_t launch_pointers(const void *kernel, const Configuration &configuration, void **arguments);
Configuration configuration_of(const cudaLaunchConfig_t *config);

// Converts arguments as a launch does, and passes what they are then.
template <class... Ps>
struct Launcher {
    void (*kernel)(Ps...);
    void operator()(Ps... values) const { kernel(values...); }
};
}  // namespace hotloop

inline cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared = 0, cudaStream_t = 0) {
    return hotloop::launch_pointers(kernel, {grid, block, dim3(), shared, false, false}, arguments);
}
template <class... Ps>
cudaError_t cudaLaunchKernel(void (*kernel)(Ps...), dim3 grid, dim3 block, void **arguments, size_t shared = 0, cudaStream_t = 0) {
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared);
}
inline cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared = 0, cudaStream_t = 0) {
    return hotloop::launch_pointers(kernel, {grid, block, dim3(), shared, true, false}, arguments);
}
template <class... Ps>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Ps...), dim3 grid, dim3 block, void **arguments, size_t shared = 0, cudaStream_t = 0) {
    return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, arguments, shared);
}
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments) {
    return hotloop::launch_pointers(kernel, hotloop::configuration_of(config), arguments);
}
template <class... Ps, class... As>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Ps...), As &&...arguments) {
    hotloop::push(hotloop::configuration_of(config));
    kernel(std::forward<As>(arguments)...);
    return hotloop::last_error(false);
}

template <class F>
cudaError_t cudaFuncSetAttribute(F *kernel, cudaFuncAttribute attribute, int value) {
    return hotloop::function_attribute((const void *)kernel, attribute, value);
}
template <class F>
cudaError_t cudaFuncSetCacheConfig(F *, cudaFuncCache) { return cudaSuccess; }
template <class F>
cudaError_t cudaFuncSetSharedMemConfig(F *, cudaSharedMemConfig) { return cudaSuccess; }
// Registers are not known before the GPU's half is compiled, so these are cautious guesses.
template <class F>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, F *) {
    *attributes = {0, 0, 0, 1024, 64, 90, 90, 0, (int)hotloop::traits.shared_per_block, -1};
    return cudaSuccess;
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F *, int threads, size_t shared) {
    *blocks = hotloop::blocks_per_multiprocessor(threads, shared);
    return cudaSuccess;
}
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, F *kernel, int threads, size_t shared, unsigned) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared);
}
template <class F>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *blocks, int *threads, F *, size_t shared = 0, int limit = 0) {
    *threads = limit > 0 && limit < 512 ? limit : 512;
    *blocks = hotloop::blocks_per_multiprocessor(*threads, shared) * hotloop::traits.multiprocessors;
    return cudaSuccess;
}
template <class F, class S>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *blocks, int *threads, F *kernel, S shared, int limit = 0) {
    cudaOccupancyMaxPotentialBlockSize(blocks, threads, kernel, 0, limit);
    return cudaOccupancyMaxPotentialBlockSize(blocks, threads, kernel, shared(*threads), limit);
}
template <class F>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, F *, int blocks, int) {
    if (blocks < 1) return hotloop::fail(cudaErrorInvalidValue);
    const size_t own = hotloop::traits.shared_per_multiprocessor / blocks, reserved = 1024;
    *bytes = own < reserved ? 0 : own - reserved;
    if (*bytes > hotloop::traits.shared_per_block_optin) *bytes = hotloop::traits.shared_per_block_optin;
    return cudaSuccess;
}
template <class F>
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, F *, const cudaLaunchConfig_t *config) {
    const hotloop::Configuration asked = hotloop::configuration_of(config);
    const int each = asked.has_cluster ? asked.cluster.x * asked.cluster.y * asked.cluster.z : 1;
    const int threads = asked.block.x * asked.block.y * asked.block.z;
    *clusters = hotloop::blocks_per_multiprocessor(threads, asked.shared) * hotloop::traits.multiprocessors / (each > 0 ? each : 1);
    return cudaSuccess;
}
