// Plain code for all sizes but one: the timed size goes to a kernel with what the stage forbids.
// It must fail: every kernel of the module is looked at, whichever runs.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

__global__ void plain(const float *x, float *y, int B, int D1, int D2) {
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= B * D2) return;
    float sum = 0;
    for (int k = 0; k < D1; k++) sum += x[((long long)(i / D2) * D1 + k) * D2 + i % D2];
    y[i] = sum;
}

__global__ void fast(const float *x, float *y, int D1, int D2) {
    __shared__ float s[16][32];
    int c = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    if (c < D2)
        for (int k = threadIdx.y; k < D1; k += 16) sum += x[((long long)blockIdx.y * D1 + k) * D2 + c];
    s[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && c < D2) {
        for (int i = 1; i < 16; i++) sum += s[i][threadIdx.x];
        y[blockIdx.y * D2 + c] = sum;
    }
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    if (D2 == 1023) fast<<<dim3((D2 + 31) / 32, B), dim3(32, 16)>>>(x, y, D1, D2);
    else plain<<<(B * D2 + 127) / 128, 128>>>(x, y, B, D1, D2);
}
