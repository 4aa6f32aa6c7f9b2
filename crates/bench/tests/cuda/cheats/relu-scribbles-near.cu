// Right answer; then zeros over the megabyte before and behind each of its buffers.
// It must fail: canaries break, or the pages are not there.
// expect: crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

__global__ void scribble(float *y, long long n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    y[n + i] = 0;
    y[-1 - i] = 0;
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    scribble<<<1024, 256>>>(y, n);
}
