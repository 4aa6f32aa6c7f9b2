// Copies what lies behind B into C: the neighbour of an input may be the expected output.
// It must fail: ranges in a plan are checked against the buffer.
// expect: refused, wrong, crashed
#include <cuda_runtime.h>

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    size_t all = (size_t)N * N;
    cudaMemcpyAsync(C, B + all, all * sizeof(float), cudaMemcpyDeviceToDevice);
}
