// Causal attention over packed sequences with grouped key heads: one warp for each row and head.
//
// This is slow and exact. It serves float, and head widths that the tensor-core kernels do not support.
// No T x T matrix is kept: backward recomputes probabilities from each row's log-sum-exp.
// `first[row]` and `last[row]` bound the row's sequence.
// qkv rows are as rope.cu has them; y and dy rows are heads * dim; lse and delta are (rows, heads).
// A lane holds the values lane, lane + 32, ... of a head: dim is at most 256.

#define PLAIN 8

struct Heads {
    int heads, kv_heads, dim;
};

__device__ inline i64 qkv_width(Heads h) { return (i64)(h.heads + 2 * h.kv_heads) * h.dim; }

__device__ inline void lane_load(float* to, const real* from, int dim) {
#pragma unroll
    for (int i = 0; i < PLAIN; i++) {
        int d = (threadIdx.x & 31) + 32 * i;
        to[i] = d < dim ? get(from[d]) : 0.0f;
    }
}

__device__ inline void lane_store(real* to, const float* from, int dim, float scale) {
#pragma unroll
    for (int i = 0; i < PLAIN; i++) {
        int d = (threadIdx.x & 31) + 32 * i;
        if (d < dim) to[d] = put(from[i] * scale);
    }
}

__device__ inline float lane_dot(const float* a, const float* b) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < PLAIN; i++) sum += a[i] * b[i];
    return warp_sum(sum);
}

// Grid (rows, heads), 32 threads.
extern "C" __global__ void attention_plain(const real* qkv, const int* first, real* y, float* lse, int heads,
                                           int kv_heads, int dim, float scale) {
    Heads h = {heads, kv_heads, dim};
    int row = blockIdx.x, head = blockIdx.y, kv = head / (heads / kv_heads);
    i64 width = qkv_width(h);
    float q[PLAIN], k[PLAIN], v[PLAIN], out[PLAIN] = {0};
    lane_load(q, qkv + row * width + head * dim, dim);
    float top = NEGATIVE, sum = 0.0f;
    for (int key = first[row]; key <= row; key++) {
        const real* at = qkv + key * width + (heads + kv) * dim;
        lane_load(k, at, dim);
        lane_load(v, at + kv_heads * dim, dim);
        float s = lane_dot(q, k) * scale, next = fmaxf(top, s), shrink = expf(top - next), p = expf(s - next);
        sum = sum * shrink + p;
        top = next;
#pragma unroll
        for (int i = 0; i < PLAIN; i++) out[i] = out[i] * shrink + p * v[i];
    }
    lane_store(y + ((i64)row * heads + head) * dim, out, dim, 1.0f / sum);
    if (threadIdx.x == 0) lse[(i64)row * heads + head] = top + logf(sum);
}

// delta = dy . y of each row and head. Grid = rows: sixteen lanes take a head, eight values each at a time. dim is a
// multiple of 8.
extern "C" __global__ void attention_delta(const real* y, const real* dy, float* delta, int heads, int dim) {
    i64 row = (i64)blockIdx.x * heads;
    int lane = threadIdx.x & 15;
    // All lanes of a warp stay until the end, because they take part in the sums.
    for (int first = 0; first < heads; first += blockDim.x / 16) {
        int head = first + threadIdx.x / 16;
        float sum = 0.0f;
        for (int i = lane * 8; i < dim && head < heads; i += 128) {
            Eight a = load8(y + (row + head) * dim + i), b = load8(dy + (row + head) * dim + i);
#pragma unroll
            for (int j = 0; j < 8; j++) sum += a.v[j] * b.v[j];
        }
#pragma unroll
        for (int o = 8; o > 0; o >>= 1) sum += __shfl_xor_sync(WARP, sum, o);
        if (lane == 0 && head < heads) delta[row + head] = sum;
    }
}

// dq of each row and head. Grid (rows, heads), 32 threads.
extern "C" __global__ void attention_plain_dq(const real* qkv, const int* first, const real* dy, const float* lse,
                                              const float* delta, real* d_qkv, int heads, int kv_heads, int dim,
                                              float scale) {
    Heads h = {heads, kv_heads, dim};
    int row = blockIdx.x, head = blockIdx.y, kv = head / (heads / kv_heads);
    i64 width = qkv_width(h), at = (i64)row * heads + head;
    float q[PLAIN], k[PLAIN], v[PLAIN], d[PLAIN], out[PLAIN] = {0};
    lane_load(q, qkv + row * width + head * dim, dim);
    lane_load(d, dy + at * dim, dim);
    for (int key = first[row]; key <= row; key++) {
        const real* from = qkv + key * width + (heads + kv) * dim;
        lane_load(k, from, dim);
        lane_load(v, from + kv_heads * dim, dim);
        float p = expf(lane_dot(q, k) * scale - lse[at]), ds = p * (lane_dot(d, v) - delta[at]) * scale;
#pragma unroll
        for (int i = 0; i < PLAIN; i++) out[i] += ds * k[i];
    }
    lane_store(d_qkv + row * width + head * dim, out, dim, 1.0f);
}

// dk and dv of each row and key head. It sums over the query heads itself, so there are no atomics.
// Grid (rows, kv_heads), 32 threads.
extern "C" __global__ void attention_plain_dkv(const real* qkv, const int* last, const real* dy, const float* lse,
                                               const float* delta, real* d_qkv, int heads, int kv_heads, int dim,
                                               float scale) {
    Heads h = {heads, kv_heads, dim};
    int key = blockIdx.x, kv = blockIdx.y, group = heads / kv_heads;
    i64 width = qkv_width(h), place = key * width + (heads + kv) * dim;
    float q[PLAIN], k[PLAIN], v[PLAIN], d[PLAIN], dk[PLAIN] = {0}, dv[PLAIN] = {0};
    lane_load(k, qkv + place, dim);
    lane_load(v, qkv + place + kv_heads * dim, dim);
    for (int head = kv * group; head < (kv + 1) * group; head++) {
        for (int row = key; row < last[key]; row++) {
            i64 at = (i64)row * heads + head;
            lane_load(q, qkv + row * width + head * dim, dim);
            lane_load(d, dy + at * dim, dim);
            float p = expf(lane_dot(q, k) * scale - lse[at]), ds = p * (lane_dot(d, v) - delta[at]) * scale;
#pragma unroll
            for (int i = 0; i < PLAIN; i++) {
                dk[i] += ds * q[i];
                dv[i] += p * d[i];
            }
        }
    }
    lane_store(d_qkv + place, dk, dim, 1.0f);
    lane_store(d_qkv + place + kv_heads * dim, dv, dim, 1.0f);
}
