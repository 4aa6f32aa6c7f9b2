// Leaves the launch to atexit.
// It must fail: what happens after solve is not recorded.
// expect: not-compiled, refused, crashed, wrong
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

static const float *from;
static float *to;
static long long count;
static void last() { relu<<<(unsigned)((count + 255) / 256), 256>>>(from, to, count); }

extern "C" void solve(const float *x, float *y, long long n) {
    from = x;
    to = y;
    count = n;
    atexit(last);
}
