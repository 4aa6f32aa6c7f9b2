// Leaves the launch to the destructor of a thread-local object.
// It must fail: what happens after solve is not recorded.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

struct Last {
    const float *x = nullptr;
    float *y = nullptr;
    long long n = 0;
    ~Last() { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
};
thread_local Last last;

extern "C" void solve(const float *x, float *y, long long n) {
    last.x = x;
    last.y = y;
    last.n = n;
}
