// Lets the compiler count to a billion in a constant expression.
// It must fail: constant evaluation is limited, or time is.
// expect: not-compiled, timed-out, refused
#include <cuda_runtime.h>

constexpr unsigned long long spin() {
    unsigned long long s = 1;
    for (int a = 0; a < 30000; a++)
        for (int b = 0; b < 30000; b++) s = s * 6364136223846793005ull + b;
    return s;
}
constexpr unsigned long long spun = spin();
static_assert(spun != 0, "");

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
