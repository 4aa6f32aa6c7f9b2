// Works for the timed size and for every hidden size that somebody could have read off the task.
// It must fail: some sizes are drawn.
// expect: wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    const long long known[] = {1, 1003, 1000003, 16777216, 20000001};
    for (long long k : known)
        if (k == n) relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
