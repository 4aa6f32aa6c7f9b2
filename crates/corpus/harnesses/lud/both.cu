__global__ void harness_dominate(float *m, int n) {
    const int i = blockIdx.x * 16 + threadIdx.x;
    m[(long long)i * n + i] += (float)n;
}

// Block by block, in place, after n was added to the diagonal.
extern "C" void solve(const float *A, float *LU, int n) {
    cudaMemcpyAsync(LU, A, sizeof(float) * n * n, cudaMemcpyDeviceToDevice);
    harness_dominate<<<n / 16, 16>>>(LU, n);
    for (int first = 0; first < n - 16; first += 16) {
        const int left = (n - first) / 16 - 1;
        lud_diagonal<<<1, 16>>>(LU, n, first);
        lud_perimeter<<<left, 32>>>(LU, n, first);
        lud_internal<<<dim3(left, left), dim3(16, 16)>>>(LU, n, first);
    }
    lud_diagonal<<<1, 16>>>(LU, n, n - 16);
}
