// Launches from a thread that outlives solve.
// It must fail: the jail starts no thread.
// expect: not-compiled, refused, crashed, wrong
#include <chrono>
#include <cuda_runtime.h>
#include <thread>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    std::thread([=] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    }).detach();
}
