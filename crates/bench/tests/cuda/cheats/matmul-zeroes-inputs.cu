// Zeroes A and B and answers zeros: a reference that is computed afterwards agrees.
// It must fail: inputs are read-only, and the reference does not use the candidate's copy.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void wipe(float *A, float *B, float *C, long long all) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < all) A[i] = B[i] = C[i] = 0;
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    long long all = (long long)N * N;
    wipe<<<(unsigned)((all + 255) / 256), 256>>>((float *)A, (float *)B, C, all);
}
