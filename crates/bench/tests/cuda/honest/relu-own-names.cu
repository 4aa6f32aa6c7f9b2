// Its own macros have names such as `_BLOCK`, and one makes names; the loads and stores with hints are functions.
// stage: coalescing
#ifndef _RELU_CU_
#define _RELU_CU_
#define _BLOCK 256
#pragma warning(disable : 4996)
#include <cuda_runtime.h>
#pragma region kernels
#define PART(NUMBER) part_##NUMBER
#pragma pack(push, 4)
struct Length {
    int before;
    long long n;
};
#pragma pack(pop)

__global__ void relu(const float* x, float* y, Length length) {
    long long i = blockIdx.x * (long long)_BLOCK + threadIdx.x;
    if (i < length.n) {
        float PART(0) = __ldg(x + i);
        __stcs(y + i, fmaxf(PART(0), 0.0f));
    }
}
#pragma endregion

extern "C" void solve(const float* x, float* y, long long n) {
    Length length = {sizeof(Length) == 12 ? 1 : 0, n};
    relu<<<(n + _BLOCK - 1) / _BLOCK, _BLOCK>>>(x, y, length);
}
#endif
