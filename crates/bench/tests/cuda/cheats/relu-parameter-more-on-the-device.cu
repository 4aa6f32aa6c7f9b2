// Right answer, but the kernel has one more parameter on the device, which nobody passes.
// It must fail: the halves disagree; the runner must not let a kernel read what lies behind its
// parameters.
// expect: refused, not-compiled, crashed, wrong
#include <cuda_runtime.h>

struct Unseen { char bytes[512]; };
#ifdef __CUDACC_RTC__
#define MORE , Unseen unseen
#else
#define MORE
#endif

__global__ void relu(const float *x, float *y, long long n MORE) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
