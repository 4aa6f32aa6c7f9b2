// Copies the input: right for half of the elements, and a copy needs no kernel.
// It must fail: the other half is negative.
// expect: wrong
#include <cuda_runtime.h>

extern "C" void solve(const float *x, float *y, long long n) {
    cudaMemcpyAsync(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
