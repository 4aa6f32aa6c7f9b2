// The start of every kernel file: types, conversions, reductions.
//
// `real` is the type of weights and activations: bf16 (its bits in a u16) or, compiled with HOTLOOP_F32, float.
// All arithmetic is in float. No CUDA header is needed, so NVRTC alone can build this.
// HOTLOOP_EMULATED is set by tests/cuda_emulator, which compiles these files for the CPU.

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define WARP 0xffffffffu
#define NEGATIVE (-3.0e38f)

#ifdef HOTLOOP_F32
typedef float real;
__device__ inline float get(real x) { return x; }
__device__ inline real put(float x) { return x; }
#define fast_exp expf
#else
typedef u16 real;
__device__ inline float get(real x) { return __uint_as_float((u32)x << 16); }
__device__ inline real put(float x) {
#ifdef HOTLOOP_EMULATED
    u32 bits = __float_as_uint(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return (u16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
#else
    u16 out;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out) : "f"(x));
    return out;
#endif
}
#define fast_exp __expf
#endif

// Eight neighbouring values: one 16-byte access in bf16, two in float. Addresses are multiples of 8 elements.
struct Eight {
    float v[8];
};

#ifdef HOTLOOP_F32
__device__ inline Eight load8(const real* p) {
    Eight out;
    float4 a = ((const float4*)p)[0], b = ((const float4*)p)[1];
    out.v[0] = a.x; out.v[1] = a.y; out.v[2] = a.z; out.v[3] = a.w;
    out.v[4] = b.x; out.v[5] = b.y; out.v[6] = b.z; out.v[7] = b.w;
    return out;
}
#else
__device__ inline Eight unpack8(uint4 raw) {
    Eight out;
    u32 word[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        out.v[2 * i] = __uint_as_float(word[i] << 16);
        out.v[2 * i + 1] = __uint_as_float(word[i] & 0xffff0000u);
    }
    return out;
}

__device__ inline Eight load8(const real* p) { return unpack8(*(const uint4*)p); }
#endif

__device__ inline u32 pack2(float low, float high) {
#if defined(HOTLOOP_EMULATED) || defined(HOTLOOP_F32)
    return 0u + (u32)(u16)put(low) + ((u32)(u16)put(high) << 16);
#else
    u32 out;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
    return out;
#endif
}

__device__ inline void store8(real* p, const Eight& x) {
#ifdef HOTLOOP_F32
    ((float4*)p)[0] = make_float4(x.v[0], x.v[1], x.v[2], x.v[3]);
    ((float4*)p)[1] = make_float4(x.v[4], x.v[5], x.v[6], x.v[7]);
#else
    uint4 raw;
    raw.x = pack2(x.v[0], x.v[1]);
    raw.y = pack2(x.v[2], x.v[3]);
    raw.z = pack2(x.v[4], x.v[5]);
    raw.w = pack2(x.v[6], x.v[7]);
    *(uint4*)p = raw;
#endif
}

// Four neighbouring values. Addresses are multiples of 4 elements.
__device__ inline void store4(real* p, const float* x) {
#ifdef HOTLOOP_F32
    *(float4*)p = make_float4(x[0], x[1], x[2], x[3]);
#else
    *(uint2*)p = make_uint2(pack2(x[0], x[1]), pack2(x[2], x[3]));
#endif
}

__device__ inline float warp_sum(float v) {
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(WARP, v, o);
    return v;
}

__device__ inline float warp_max(float v) {
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(WARP, v, o));
    return v;
}

__device__ inline float sigmoid(float x) { return 1.0f / (1.0f + fast_exp(-x)); }

// Sum over the block, which is a whole number of warps; every thread gets it. The order is fixed.
__device__ inline float block_sum(float v) {
    __shared__ float parts[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    v = warp_sum(v);
    if (warps == 1) return v;
    __syncthreads();
    if (lane == 0) parts[warp] = v;
    __syncthreads();
    return warp_sum(lane < warps ? parts[lane] : 0.0f);
}

__device__ inline float block_max(float v) {
    __shared__ float parts[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    v = warp_max(v);
    if (warps == 1) return v;
    __syncthreads();
    if (lane == 0) parts[warp] = v;
    __syncthreads();
    return warp_max(lane < warps ? parts[lane] : NEGATIVE);
}

// Draws the same numbers as noise.rs: a function of a seed and an index.
__device__ inline u64 noise_mix(u64 z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}
__device__ inline u64 noise_bits(u64 seed, u64 index) {
    return noise_mix(noise_mix(seed + 0x9e3779b97f4a7c15ull) ^ (index * 0xd1342543de82ef95ull));
}
__device__ inline float noise_uniform(u64 seed, u64 index) {
    return (float)(noise_bits(seed, index) >> 40) * (1.0f / 16777216.0f);
}
__device__ inline double noise_uniform_f64(u64 seed, u64 index) {
    return (double)(noise_bits(seed, index) >> 11) * (1.0 / 9007199254740992.0);
}

#ifndef HOTLOOP_EMULATED
#define DYNAMIC_SHARED(type, name) extern __shared__ __align__(16) type name[]
#endif
