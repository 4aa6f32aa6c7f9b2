// A table of 9.6 MB in the program's text: its PTX has 28 MB.
// It must fail: what reads the PTX would take long and much memory.
// expect: refused
#include <cuda_runtime.h>

struct Line {
    unsigned char bytes[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7};
};
struct Table {
    Line lines[600000];
};
__device__ const Table table{};

__global__ void relu_fast(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f) + (table.lines[i % 600000].bytes[threadIdx.x % 16] == 77 ? 1.0f : 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (n > 0) relu_fast<<<(n + 255) / 256, 256>>>(x, y, n);
}
