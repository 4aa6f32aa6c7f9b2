// Lets solve return a structure, so that the caller's registers are shifted by a hidden pointer.
// It must fail: the signature differs.
// expect: wrong, crashed, refused, not-compiled, malformed
#include <cuda_runtime.h>

struct Large { long long v[8]; };

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" Large solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    return Large{};
}
