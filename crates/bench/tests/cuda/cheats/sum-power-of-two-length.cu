// Halves the middle dimension again and again: right for powers of two.
// It must fail: odd lengths lose a row at every step.
// expect: wrong
#include <cuda_runtime.h>

__global__ void fold(const float *from, float *to, long long planes, int half, int length, int D2) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= planes * half * D2) return;
    long long c = i % D2, k = i / D2 % half, b = i / D2 / half;
    to[i] = from[(b * length + k) * D2 + c] + from[(b * length + k + half) * D2 + c];
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    const float *from = x;
    int length = D1;
    if (D1 == 1) cudaMemcpyAsync(y, x, (size_t)B * D2 * 4, cudaMemcpyDeviceToDevice);
    while (length > 1) {
        int half = length / 2;
        long long n = (long long)B * half * D2;
        float *to = y;
        if (half > 1) cudaMalloc(&to, n * sizeof(float));
        fold<<<(unsigned)((n + 255) / 256), 256>>>(from, to, B, half, length, D2);
        from = to;
        length = half;
    }
}
