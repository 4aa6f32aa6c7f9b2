// Allocates on the device heap without end and stops the kernel when nothing is left.
// It must fail: the trap ends the runner, not the bench.
// expect: crashed, refused, wrong
#include <cuda_runtime.h>

__global__ void hoard(float *y, int n) {
    for (;;) {
        float *p = (float *)malloc(1 << 16);
        if (!p) __trap();
        p[0] = 1;
        y[0] = p[0];
    }
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) { hoard<<<8, 32>>>(y, B * D2); }
