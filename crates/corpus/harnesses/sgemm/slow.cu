// beta is 0, but the kernel reads C, which must hold numbers.
extern "C" void solve(const float *A, const float *B, float *C, int m, int n, int k) {
    cudaMemsetAsync(C, 0, sizeof(float) * m * n);
    mysgemmNT<<<dim3(m / 16, n / 16), dim3(16, 16)>>>(A, m, B, n, C, m, k, 1.0f, 0.0f);
}
