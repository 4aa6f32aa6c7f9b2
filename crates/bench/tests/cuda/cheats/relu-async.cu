// Launches from std::async and never waits for it.
// It must fail: the jail starts no thread.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <future>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    static std::future<void> later;
    later = std::async(std::launch::async, [=] { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); });
}
