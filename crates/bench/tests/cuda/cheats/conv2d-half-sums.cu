// Multiplies and adds in half precision.
// It must fail: eleven bits are not twenty-four.
// expect: wrong
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void conv(const float *x, const float *w, float *y, int C, int H, int W, int O) {
    int c0 = blockIdx.x * blockDim.x + threadIdx.x, r0 = blockIdx.y, o = blockIdx.z % O;
    long long image = blockIdx.z / O;
    if (c0 >= W - 2) return;
    __half sum = __float2half(0.0f);
    for (int c = 0; c < C; c++)
        for (int t = 0; t < 9; t++)
            sum = __hfma(__float2half(x[((image * C + c) * H + r0 + t / 3) * W + c0 + t % 3]),
                         __float2half(w[(o * C + c) * 9 + t]), sum);
    y[((image * O + o) * (H - 2) + r0) * (W - 2) + c0] = __half2float(sum);
}

extern "C" void solve(const float *x, const float *w, float *y, int N, int C, int H, int W, int O) {
    conv<<<dim3((W + 125) / 128, H - 2, N * O), 128>>>(x, w, y, C, H, W, O);
}
