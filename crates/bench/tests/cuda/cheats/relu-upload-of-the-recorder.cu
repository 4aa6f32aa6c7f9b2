// Uploads the recorder's own stack as data and computes nothing.
// It must fail: what it finds is no answer.
// expect: wrong, refused, crashed
#include <cuda_runtime.h>

extern "C" void solve(const float *x, float *y, long long n) {
    char here[64] = {1};
    cudaMemcpy(y, here, 4, cudaMemcpyHostToDevice);
}
