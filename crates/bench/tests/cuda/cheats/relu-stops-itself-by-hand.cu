// Sends itself SIGSTOP by a declaration of its own: it uses no processor and never ends.
// It must fail: it is the candidate that stopped; a machine without a processor looks the same
// to a careless clock.
// expect: timed-out, crashed, refused, not-compiled
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" int raise(int);

extern "C" void solve(const float *x, float *y, long long n) {
    raise(19);
}
