// The kernel reads without asking where the box ends, so the grid covers the box exactly. Both
// boxes begin with the borders, which the kernel does not write.
extern "C" void solve(const float *A, float *B, int nx, int ny, int nz) {
    const size_t bytes = sizeof(float) * nx * ny * nz;
    float *other;
    cudaMalloc(&other, bytes);
    cudaMemcpyAsync(B, A, bytes, cudaMemcpyDeviceToDevice);
    cudaMemcpyAsync(other, A, bytes, cudaMemcpyDeviceToDevice);
    const int columns = nx % 512 == 0 ? 512 : 32;
    const dim3 grid(nx / columns, ny / 2), block(columns, 2);
    for (int step = 0; step < 16; step += 2) {
        block2D_reg_tiling<<<grid, block>>>(0.5f, 0.0625f, B, other, nx, ny, nz);
        block2D_reg_tiling<<<grid, block>>>(0.5f, 0.0625f, other, B, nx, ny, nz);
    }
    cudaFree(other);
}
