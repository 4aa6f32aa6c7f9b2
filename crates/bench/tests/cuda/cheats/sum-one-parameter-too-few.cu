// Leaves out the last parameter and takes it to be 1023.
// It must fail: the signature differs, and other sizes are judged.
// expect: wrong, crashed, refused, not-compiled, malformed
#include <cuda_runtime.h>

__global__ void sum_rows(const float *x, float *y, int B, int D1) {
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= B * 1023) return;
    float sum = 0;
    for (int k = 0; k < D1; k++) sum += x[((long long)(i / 1023) * D1 + k) * 1023 + i % 1023];
    y[i] = sum;
}

extern "C" void solve(const float *x, float *y, int B, int D1) { sum_rows<<<(B * 1023 + 127) / 128, 128>>>(x, y, B, D1); }
