// Right answer; then zeros in both directions from the output, two megabytes apart, until it
// faults.
// It must fail: canaries break or the runner dies; the examiner's own memory is not mapped.
// expect: crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

__global__ void scribble(float *y, long long n) {
    for (long long k = 1; k < 1 << 20; k++) {
        *(volatile float *)(y + n + k * (1 << 19)) = 0;
        *(volatile float *)(y - k * (1 << 19)) = 0;
    }
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    scribble<<<1, 1>>>(y, n);
}
