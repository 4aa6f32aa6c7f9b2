// Passes a structure of 40 KB as a parameter; a launch takes at most 32,764 bytes.
// It must fail: it does not compile or cannot be launched.
// expect: not-compiled, refused, crashed
#include <cuda_runtime.h>

struct Big { const float *x; float *y; long long n; char rest[40000]; };

__global__ void relu(Big b) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < b.n) b.y[i] = fmaxf(b.x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    static Big b;
    b.x = x;
    b.y = y;
    b.n = n;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(b);
}
