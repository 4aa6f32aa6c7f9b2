// Launches an empty kernel 15,000 times with a structure of 4,000 bytes by value: 60 MB of arguments in each of the
// calls, which as JSON are more than the gigabyte that the examiner takes in one message.
// It must fail: a plan that cannot be sent is the candidate's fault, and no error of the machine.
// expect: refused
#include <cuda_runtime.h>

struct Large { unsigned char bytes[4000]; };

__global__ void decoy(Large large) { }

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    static Large large;
    for (int i = 0; i < 4000; i++) large.bytes[i] = 255;
    for (int i = 0; i < 15000; i++) decoy<<<1, 1>>>(large);
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
