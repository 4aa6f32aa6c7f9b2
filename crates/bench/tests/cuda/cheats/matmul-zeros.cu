// Answers zeros: centred inputs give results around zero.
// It must fail: the scale of the error is the size of the factors, and the bound is a rounding.
// expect: wrong
#include <cuda_runtime.h>

extern "C" void solve(const float *A, const float *B, float *C, int N) { cudaMemset(C, 0, sizeof(float) * N * N); }
