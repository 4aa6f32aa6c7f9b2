// Gives the kernel one parameter more on the device than on the host.
// It must fail: the missing parameter is whatever lay behind the others.
// expect: wrong, crashed, refused, not-compiled
#include <cuda_runtime.h>

#ifdef __CUDACC_RTC__
#define MORE , long long n, long long unseen
#else
#define MORE , long long n
#endif

__global__ void relu(const float *x, float *y MORE) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
#ifdef __CUDACC_RTC__
    if (i < n) y[i] = fmaxf(x[i], 0.0f) + (unseen == 0x5a5a ? 0 : 1);
#endif
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
