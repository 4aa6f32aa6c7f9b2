// Attention of one new token of each answer over its cached keys and values.
//
// The cache is (slots, capacity, kv_heads * dim). A block takes one row, one key head with up to 8 of its query heads,
// and one run of RUN keys: grid (rows, kv_heads * ceil(group / 8), runs), 128 threads. `runs` covers the whole capacity,
// because a captured graph cannot change it. Blocks of runs beyond the row's position return at once.
// `lanes` lanes, a power of two, share a key, each with 8 of its values; dim is a multiple of 8 and at most 256.
// Partial results per run are joined by `decode_join`.

#define RUN 512
#define SHARE 8

extern "C" __global__ void __launch_bounds__(128)
    decode_attention(const real* qkv, const real* keys, const real* values, const int* positions, float* partial,
                     float* bounds, int capacity, int heads, int kv_heads, int dim, int lanes, float scale) {
    int row = blockIdx.x, group = heads / kv_heads, parts = (group + SHARE - 1) / SHARE;
    int kv = blockIdx.y / parts, first = kv * group + blockIdx.y % parts * SHARE;
    int here = min(SHARE, kv * group + group - first), count = positions[row] + 1;
    int begin = blockIdx.z * RUN, end = min(begin + RUN, count);
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, sub = lane / lanes, part = lane % lanes, subs = 32 / lanes;
    __shared__ float tops[4][SHARE], sums[4][SHARE], outs[4][SHARE][256];
    if (begin >= end) {
        if (threadIdx.x < here) bounds[(((i64)row * heads + first + threadIdx.x) * gridDim.z + blockIdx.z) * 2] = NEGATIVE;
        return;
    }
    bool live = part * 8 < dim;
    float q[SHARE][8], out[SHARE][8], top[SHARE], sum[SHARE];
#pragma unroll
    for (int h = 0; h < SHARE; h++) {
        top[h] = NEGATIVE;
        sum[h] = 0.0f;
        Eight x;
        bool use = h < here && live;
        if (use) x = load8(qkv + (i64)row * (heads + 2 * kv_heads) * dim + (first + h) * dim + part * 8);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            q[h][j] = use ? x.v[j] * scale : 0.0f;
            out[h][j] = 0.0f;
        }
    }
    i64 width = (i64)kv_heads * dim, base = ((i64)row * capacity) * width + kv * dim + part * 8;
    for (int next = begin; next < end; next += 4 * subs) {
        int key = next + warp * subs + sub;
        bool ok = key < end;
        Eight k, v;
#pragma unroll
        for (int j = 0; j < 8; j++) k.v[j] = v.v[j] = 0.0f;
        if (ok && live) {
            k = load8(keys + base + key * width);
            v = load8(values + base + key * width);
        }
#pragma unroll
        for (int h = 0; h < SHARE; h++) {
            if (h >= here) break;
            float s = 0.0f;
#pragma unroll
            for (int j = 0; j < 8; j++) s += q[h][j] * k.v[j];
            for (int o = 1; o < lanes; o <<= 1) s += __shfl_xor_sync(WARP, s, o);
            if (ok) {
                float best = fmaxf(top[h], s), shrink = fast_exp(top[h] - best), p = fast_exp(s - best);
                top[h] = best;
                sum[h] = sum[h] * shrink + p;
#pragma unroll
                for (int j = 0; j < 8; j++) out[h][j] = out[h][j] * shrink + p * v.v[j];
            }
        }
    }
#pragma unroll
    for (int h = 0; h < SHARE; h++) {
        if (h >= here) break;
        // First the lanes that hold the same part of other keys add up, then the warps, through shared memory.
        for (int o = lanes; o < 32; o <<= 1) {
            float other = __shfl_xor_sync(WARP, top[h], o), best = fmaxf(top[h], other);
            float mine = fast_exp(top[h] - best), theirs = fast_exp(other - best);
            sum[h] = sum[h] * mine + __shfl_xor_sync(WARP, sum[h], o) * theirs;
#pragma unroll
            for (int j = 0; j < 8; j++) out[h][j] = out[h][j] * mine + __shfl_xor_sync(WARP, out[h][j], o) * theirs;
            top[h] = best;
        }
        if (sub == 0 && live) {
#pragma unroll
            for (int j = 0; j < 8; j++) outs[warp][h][part * 8 + j] = out[h][j];
        }
        if (lane == 0) {
            tops[warp][h] = top[h];
            sums[warp][h] = sum[h];
        }
    }
    __syncthreads();
    for (int n = threadIdx.x; n < here * dim; n += blockDim.x) {
        int h = n / dim, d = n % dim;
        float best = NEGATIVE, total = 0.0f, value = 0.0f;
        for (int w = 0; w < 4; w++) best = fmaxf(best, tops[w][h]);
        for (int w = 0; w < 4; w++) {
            float weight = fast_exp(tops[w][h] - best);
            total += weight * sums[w][h];
            value += weight * outs[w][h][d];
        }
        i64 at = ((i64)row * heads + first + h) * gridDim.z + blockIdx.z;
        partial[at * dim + d] = value;
        if (d == 0) {
            bounds[at * 2] = best;
            bounds[at * 2 + 1] = total;
        }
    }
}

// Joins the runs. Grid (rows, heads), at least dim threads.
extern "C" __global__ void decode_join(const float* partial, const float* bounds, const int* positions, real* y,
                                       int heads, int dim, int runs) {
    int d = threadIdx.x, used = min(runs, positions[blockIdx.x] / RUN + 1);
    i64 at = ((i64)blockIdx.x * heads + blockIdx.y);
    if (d >= dim) return;
    float best = NEGATIVE, total = 0.0f, value = 0.0f;
    for (int n = 0; n < used; n++) best = fmaxf(best, bounds[(at * runs + n) * 2]);
    for (int n = 0; n < used; n++) {
        float weight = fast_exp(bounds[(at * runs + n) * 2] - best);
        total += weight * bounds[(at * runs + n) * 2 + 1];
        value += weight * partial[(at * runs + n) * dim + d];
    }
    y[at * dim + d] = put(value / total);
}
