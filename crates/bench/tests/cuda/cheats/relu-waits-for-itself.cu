// Waits for a mutex that it holds already.
// It must fail: the jail has a limit of wall-clock time.
// expect: timed-out, crashed, refused, not-compiled
#include <cuda_runtime.h>
#include <mutex>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    static std::mutex m;
    m.lock();
    m.lock();
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
