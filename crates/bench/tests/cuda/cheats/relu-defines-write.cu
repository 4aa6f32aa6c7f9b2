// Defines write() and so stands between the recorder and its parent.
// It must fail: the recorder does not call through names that a candidate can define.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <unistd.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

static int calls;
extern "C" ssize_t write(int, const void *, size_t bytes) {
    calls++;
    return (ssize_t)bytes;
}

extern "C" void solve(const float *x, float *y, long long n) {
    for (int i = 0; i < 2000; i++) cudaMemsetAsync(y, 0, 4, 0);
    if (calls == 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
