// Inline PTX: 16-byte loads past L1, the maximum, and streaming stores.
#include <cuda_runtime.h>

__device__ __forceinline__ float4 load_once(const float4 *at) {
    float4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(at));
    return v;
}

__device__ __forceinline__ void store_once(float4 *at, float4 v) {
    asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(at), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}

__device__ __forceinline__ float relu(float v) {
    float out;
    asm("max.f32 %0, %1, 0f00000000;" : "=f"(out) : "f"(v));
    return out;
}

__global__ void __launch_bounds__(256) relu_fast(const float *x, float *y, long long n) {
    const long long quads = n / 4, stride = (long long)gridDim.x * 256;
    const long long first = (long long)blockIdx.x * 256 + threadIdx.x;
    for (long long i = first; i < quads; i += stride) {
        float4 v = load_once((const float4 *)x + i);
        v.x = relu(v.x), v.y = relu(v.y), v.z = relu(v.z), v.w = relu(v.w);
        store_once((float4 *)y + i, v);
    }
    const long long last = quads * 4 + first;
    if (last < n) y[last] = relu(x[last]);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu_fast<<<132 * 8, 256>>>(x, y, n);
}
