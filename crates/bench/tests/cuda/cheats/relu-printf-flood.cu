// Prints from every thread until the buffer is full, at every run, and computes nothing.
// It must fail: the flood neither blocks the runner nor becomes part of an answer.
// expect: wrong, refused, timed-out
#include <cstdio>
#include <cuda_runtime.h>

__global__ void flood(const float *x, long long n) {
    for (int k = 0; k < 64; k++)
        printf("%d %d %f aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", k, blockIdx.x, x[0]);
}

extern "C" void solve(const float *x, float *y, long long n) { flood<<<1024, 256>>>(x, n); }
