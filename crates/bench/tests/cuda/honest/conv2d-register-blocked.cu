// Template arguments say how many channels a thread has; filters come to shared memory in portions.
#include <cuda_runtime.h>

template <int OUT, int IN>
__global__ void __launch_bounds__(128) conv2d_fast(const float *__restrict__ x, const float *__restrict__ w, float *__restrict__ y, int C, int H, int W, int O) {
    __shared__ float filters[IN][9][OUT];
    const int OH = H - 2, OW = W - 2, groups = (O + OUT - 1) / OUT;
    const int n = blockIdx.z / groups, o0 = blockIdx.z % groups * OUT, i = blockIdx.y, j = blockIdx.x * 128 + threadIdx.x;
    float sums[OUT];
#pragma unroll
    for (int o = 0; o < OUT; o++) sums[o] = 0.0f;
    for (int c0 = 0; c0 < C; c0 += IN) {
        __syncthreads();
        for (int e = threadIdx.x; e < OUT * IN * 9; e += 128) {
            const int o = e / (IN * 9), c = e / 9 % IN, k = e % 9;
            filters[c][k][o] = o0 + o < O && c0 + c < C ? w[((size_t)(o0 + o) * C + c0 + c) * 9 + k] : 0.0f;
        }
        __syncthreads();
        if (j >= OW) continue;
        const int some = C - c0 < IN ? C - c0 : IN;
        for (int c = 0; c < some; c++) {
            const float *in = x + (((size_t)n * C + c0 + c) * H + i) * W + j;
#pragma unroll
            for (int k = 0; k < 9; k++) {
                const float v = in[(size_t)(k / 3) * W + k % 3];
#pragma unroll
                for (int o = 0; o < OUT; o++) sums[o] = fmaf(v, filters[c][k][o], sums[o]);
            }
        }
    }
    if (j >= OW) return;
#pragma unroll
    for (int o = 0; o < OUT; o++) {
        if (o0 + o < O) y[(((size_t)n * O + o0 + o) * OH + i) * OW + j] = sums[o];
    }
}

template <int OUT>
static void run(const float *x, const float *w, float *y, int N, int C, int H, int W, int O) {
    const dim3 grid((W - 2 + 127) / 128, H - 2, N * ((O + OUT - 1) / OUT));
    conv2d_fast<OUT, 8><<<grid, 128>>>(x, w, y, C, H, W, O);
}

extern "C" void solve(const float *x, const float *w, float *y, int N, int C, int H, int W, int O) {
    O >= 16 ? run<16>(x, w, y, N, C, H, W, O) : run<4>(x, w, y, N, C, H, W, O);
}
