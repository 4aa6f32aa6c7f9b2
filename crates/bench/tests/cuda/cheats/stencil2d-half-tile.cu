// Keeps its tile in half precision.
// It must fail: eleven bits are not twenty-four.
// expect: wrong
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void sweep(const float *x, float *y, int H, int W) {
    __shared__ __half t[18][34];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 18 * 34; k += 512) {
        int i = blockIdx.y * 16 + k / 34 - 1, j = blockIdx.x * 32 + k % 34 - 1;
        t[k / 34][k % 34] = __float2half(i >= 0 && i < H && j >= 0 && j < W ? x[(long long)i * W + j] : 0.0f);
    }
    __syncthreads();
    if (r >= H || c >= W) return;
    int a = threadIdx.y + 1, b = threadIdx.x + 1;
    long long i = (long long)r * W + c;
    if (r == 0 || r == H - 1 || c == 0 || c == W - 1) y[i] = x[i];
    else
        y[i] = (__half2float(t[a][b]) + __half2float(t[a][b - 1]) + __half2float(t[a][b + 1]) +
                __half2float(t[a - 1][b]) + __half2float(t[a + 1][b])) / 5.0f;
}

extern "C" void solve(const float *x, float *y, int H, int W) {
    sweep<<<dim3((W + 31) / 32, (H + 15) / 16), dim3(32, 16)>>>(x, y, H, W);
}
