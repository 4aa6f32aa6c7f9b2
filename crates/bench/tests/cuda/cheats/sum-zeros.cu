// Answers zeros, the expected value of a sum of centred numbers.
// It must fail: the true sums are not zero.
// expect: wrong
#include <cuda_runtime.h>

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    cudaMemsetAsync(y, 0, (size_t)B * D2 * 4);
}
