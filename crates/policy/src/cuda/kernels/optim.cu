// Masters, gradients and AdamW over one arena.
//
// In bf16 a master is stored as the rounded weight `high` and a signed 16-bit rest `low`: the float's bits are
// (high << 16) + low. Compute reads `high` alone, and the two together lose nothing. In float `high` is the master.
// All kernels: 256 threads a block, grid-stride loops.

__device__ inline float join(const real* high, const short* low, i64 i) {
#ifdef HOTLOOP_F32
    return high[i];
#else
    return __uint_as_float(((u32)high[i] << 16) + (u32)(int)low[i]);
#endif
}

__device__ inline void part(real* high, short* low, i64 i, float value) {
#ifdef HOTLOOP_F32
    high[i] = value;
#else
    u32 bits = __float_as_uint(value), top = (bits + 0x8000u) >> 16;
    high[i] = (u16)top;
    if (low) low[i] = (short)(int)(bits - (top << 16));
#endif
}

#define EACH(i, n) for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (i64)gridDim.x * blockDim.x)

// Floats to masters; `low` may be null where nothing is trained.
extern "C" __global__ void split_masters(const float* values, real* high, short* low, i64 n) {
    EACH(i, n) part(high, low, i, values[i]);
}

// Masters, or weights alone where `low` is null, to floats.
extern "C" __global__ void join_masters(const real* high, const short* low, float* values, i64 n) {
    EACH(i, n) {
#ifndef HOTLOOP_F32
        if (!low) { values[i] = get(high[i]); continue; }
#endif
        values[i] = join(high, low, i);
    }
}

// Normal numbers of that scale, or ones where `scale` is 0: random weights for speed tests.
extern "C" __global__ void fill_random(real* high, i64 n, float scale, u64 seed) {
    EACH(i, n) {
        float a = 1.0f - noise_uniform(seed, 2 * i), b = noise_uniform(seed, 2 * i + 1);
        high[i] = put(scale > 0.0f ? sqrtf(-2.0f * logf(a)) * cosf(6.2831853f * b) * scale : 1.0f);
    }
}

// Partial sums of squares, one double a block: added up on the host in their order.
extern "C" __global__ void square_sum(const float* values, double* parts, i64 n) {
    __shared__ double sums[256];
    double sum = 0.0;
    EACH(i, n) sum += (double)values[i] * (double)values[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int o = 128; o > 0; o >>= 1) {
        if (threadIdx.x < o) sums[threadIdx.x] += sums[threadIdx.x + o];
        __syncthreads();
    }
    if (threadIdx.x == 0) parts[blockIdx.x] = sums[0];
}

extern "C" __global__ void adamw(real* high, short* low, const float* gradient, float* mean, float* square, i64 n,
                                 float shorten, float keep, float size, float root, float beta1, float beta2,
                                 float eps) {
    EACH(i, n) {
        float g = gradient[i] * shorten;
        float m = beta1 * mean[i] + (1.0f - beta1) * g;
        float s = beta2 * square[i] + (1.0f - beta2) * g * g;
        mean[i] = m;
        square[i] = s;
        part(high, low, i, join(high, low, i) * keep - size * m / (sqrtf(s) * root + eps));
    }
}
