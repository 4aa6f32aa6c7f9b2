// Neither kernel writes the borders, so both boxes begin with them.
extern "C" void solve(const float *A, float *B, int nx, int ny, int nz) {
    const size_t bytes = sizeof(float) * nx * ny * nz;
    float *other;
    cudaMalloc(&other, bytes);
    cudaMemcpyAsync(B, A, bytes, cudaMemcpyDeviceToDevice);
    cudaMemcpyAsync(other, A, bytes, cudaMemcpyDeviceToDevice);
    for (int step = 0; step < 16; step += 2) {
        naive_kernel<<<dim3(ny - 2, nz - 2), nx - 1>>>(0.5f, 0.0625f, B, other, nx, ny, nz);
        naive_kernel<<<dim3(ny - 2, nz - 2), nx - 1>>>(0.5f, 0.0625f, other, B, nx, ny, nz);
    }
    cudaFree(other);
}
