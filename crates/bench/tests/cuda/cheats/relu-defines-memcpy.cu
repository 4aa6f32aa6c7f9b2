// Defines memcpy, which the recorder may call for parameters, and changes what passes through it.
// It must fail: whatever the record becomes, only the first element is asked for.
// expect: not-compiled, refused, crashed, wrong
#include <cstddef>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void *memcpy(void *to, const void *from, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) ((volatile char *)to)[i] = ((const char *)from)[i] ^ (char)(i == 9);
    return to;
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<1, 1>>>(x, y, 1);
}
