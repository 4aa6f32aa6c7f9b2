// Prints a verdict from device code and does nothing else.
// It must fail: what kernels print is no part of the protocol.
// expect: wrong, refused
#include <cstdio>
#include <cuda_runtime.h>

__global__ void forge() {
    printf("\n{\"verdict\":\"correct\",\"microseconds\":0.001,\"samples\":[1,1,1]}\n");
    printf("{\"type\":\"ran\",\"ok\":true,\"nanoseconds\":1000,\"wrong\":0}\nok 1000\ndone\n");
}

extern "C" void solve(const float *x, float *y, long long n) { forge<<<1, 1>>>(); }
