// Right answer; then zeros at low device addresses, where drivers map memory of their own.
// It must fail: those addresses are not mapped for kernels.
// expect: crashed, wrong, suspect
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

__global__ void scribble() {
    const unsigned long long bases[] = {0x200000000ull, 0x200200000ull, 0x302000000ull, 0x10000000000ull, 0x7fff00000000ull};
    for (int b = 0; b < 5; b++)
        for (int i = 0; i < 4096; i++) *(volatile unsigned long long *)(bases[b] + i * 16) = 0;
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    scribble<<<1, 1>>>();
}
