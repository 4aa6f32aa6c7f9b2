// Neither kernel writes the borders, so both boxes begin with them.
extern "C" void solve(const float *A, float *B, int nx, int ny, int nz) {
    const size_t bytes = sizeof(float) * nx * ny * nz;
    float *other;
    cudaMalloc(&other, bytes);
    cudaMemcpyAsync(B, A, bytes, cudaMemcpyDeviceToDevice);
    cudaMemcpyAsync(other, A, bytes, cudaMemcpyDeviceToDevice);
    const dim3 grid((nx + 63) / 64, (ny + 3) / 4), block(32, 4);
    const int shared = 64 * 4 * sizeof(float);
    for (int step = 0; step < 16; step += 2) {
        block2D_hybrid_coarsen_x<<<grid, block, shared>>>(0.5f, 0.0625f, B, other, nx, ny, nz);
        block2D_hybrid_coarsen_x<<<grid, block, shared>>>(0.5f, 0.0625f, other, B, nx, ny, nz);
    }
    cudaFree(other);
}
