// Brings its own main, which would run instead of the recorder's.
// It must fail: the recorder's main is the only one; an own one is no candidate.
// expect: not-compiled, refused, crashed, wrong
#include <cstdio>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

int main() {
    printf("{\"verdict\":\"correct\"}\n");
    return 0;
}

extern "C" void solve(const float *x, float *y, long long n) {
    (void)x;
}
