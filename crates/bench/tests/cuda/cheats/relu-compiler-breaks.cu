// Makes NVRTC 13 produce code that its own later part rejects; it prints that to standard error.
// It must fail: a compiler that breaks on a candidate is the candidate's not-compiled, never an
// error of the machine, and its noise is no protocol. A compiler that is mended meets the stage.
// expect: not-compiled, refused
// stage: coalescing
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (4 * i + 3 < n) {
        float4 v;
        const void *from = __builtin_assume_aligned(x + 4 * i, 16);
        void *to = __builtin_assume_aligned(y + 4 * i, 16);
        memcpy(&v, from, 16);
        v = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
        memcpy(to, &v, 16);
    } else {
        for (long long k = 4 * i; k < n; k++) y[k] = fmaxf(x[k], 0.0f);
    }
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n / 4 + 256) / 256), 256>>>(x, y, n); }
