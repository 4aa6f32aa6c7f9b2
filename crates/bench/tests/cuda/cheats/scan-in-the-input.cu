// Uses the input as scratch memory for block sums: right answer, changed input.
// It must fail: the input must not be written.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void scan_all(float *x, float *y, long long n) {
    float s = 0;
    for (long long i = 0; i < n; i++) {
        s += x[i];
        x[i] = s;
    }
}

__global__ void copy(const float *x, float *y, long long n) {
    for (long long i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i];
}

extern "C" void solve(const float *x, float *y, int n) {
    scan_all<<<1, 1>>>((float *)x, y, n < 100000 ? n : 100000);
    copy<<<1, 1024>>>(x, y, n);
}
