// Forward the kernel overwrites its weights, so each kernel gets a copy.
extern "C" void solve(const float *input, const float *weights, const float *before, const float *delta, float *sums, float *updated, float *change, int blocks) {
    const size_t bytes = sizeof(float) * 17 * (16 * (size_t)blocks + 1);
    const dim3 grid(1, blocks), block(16, 16);
    float *from = (float *)input;
    cudaMemcpyAsync(updated, weights, bytes, cudaMemcpyDeviceToDevice);
    bpnn_layerforward_CUDA<<<grid, block>>>(from, nullptr, updated, sums, 16 * blocks, 16);
    cudaMemcpyAsync(updated, weights, bytes, cudaMemcpyDeviceToDevice);
    cudaMemcpyAsync(change, before, bytes, cudaMemcpyDeviceToDevice);
    bpnn_adjust_weights_cuda<<<grid, block>>>((float *)delta, 16, from, 16 * blocks, updated, change);
}
