// Takes host memory without end and touches it.
// It must fail: memory is limited.
// expect: not-compiled, refused, crashed, wrong, timed-out
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    for (size_t got = 0; got < (64ull << 30); got += 1 << 26) {
        void *p = malloc(1 << 26);
        if (!p) return;
        memset(p, 1, 1 << 26);
    }
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
