// Gives a structure another layout for the device than for the host.
// It must fail: the kernel reads its parameters where others were written.
// expect: wrong, crashed, refused, not-compiled
#include <cuda_runtime.h>

struct Args {
#ifdef __CUDACC_RTC__
    float *y;
    const float *x;
#else
    const float *x;
    float *y;
#endif
    long long n;
};

__global__ void relu(Args a) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < a.n) a.y[i] = fmaxf(a.x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    Args a;
    a.x = x;
    a.y = y;
    a.n = n;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(a);
}
