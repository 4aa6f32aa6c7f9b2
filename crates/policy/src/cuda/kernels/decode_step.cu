// The rest of a decode step, around the products of decode_product.cu or of cuBLAS: the embedding, attention and
// everything between it and the previous product, norm and activation unless the products fuse them, and the draw.
#if !defined(HOTLOOP_F32) && defined(HEAD_DIM) && HEAD_DIM % 64 == 0 && HEAD_DIM <= 128

// Position and embedding of every slot's last token and, for products that fold norms in (`copy` is not null), the
// embedding woven and its sum of squares. Grid = rows.
extern "C" __global__ void step_begin(const Slot* states, const real* table, int* positions, real* x, real* copy,
                                      float* squares, int width) {
    step_wait();
    const real* from = table + (i64)states[blockIdx.x].token * width;
    real *to = x + (i64)blockIdx.x * width, *too = copy + (i64)blockIdx.x * width;
    float square = 0.0f;
    for (int i = threadIdx.x * 8; i < width; i += blockDim.x * 8) {
        Eight v = load8(from + i);
#pragma unroll
        for (int j = 0; j < 8; j++) square += v.v[j] * v.v[j];
        store8(to + i, v);
        if (copy) store_woven(too, i, v);
    }
    square = block_sum(square);
    if (threadIdx.x != 0) return;
    if (copy) squares[blockIdx.x] = square;
    positions[blockIdx.x] = states[blockIdx.x].position;
}

__device__ inline Eight load_fresh8(const real* at) { return unpack8(load_fresh(at).all); }

// `rms_forward` of the stream's rows, which stay in registers: eight values a thread, so 8192 at most. Grid = rows.
extern "C" __global__ void __launch_bounds__(1024)
    step_rms(const real* x, const real* w, real* y, int width, float eps) {
    int i = threadIdx.x * 8;
    bool there = i < width;
    Eight a = {}, b = {};
    if (there) b = load8(w + i);
    step_wait();
    if (there) a = load_fresh8(x + (i64)blockIdx.x * width + i);
    float square = 0.0f;
#pragma unroll
    for (int j = 0; j < 8; j++) square += a.v[j] * a.v[j];
    float r = 1.0f / sqrtf(block_sum(square) / width + eps);
    if (!there) return;
#pragma unroll
    for (int j = 0; j < 8; j++) a.v[j] *= r * b.v[j];
    store8(y + (i64)blockIdx.x * width + i, a);
}

// `swiglu_forward`. Grid covers rows * ffn / 8 threads of 256.
extern "C" __global__ void __launch_bounds__(256) step_swiglu(const real* gate_up, real* out, int ffn, i64 eights) {
    i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    step_wait();
    if (n >= eights) return;
    i64 at = n * 8, row = at / ffn, column = at % ffn;
    const real* gate = gate_up + row * 2 * ffn + column;
    Eight g = load_fresh8(gate), u = load_fresh8(gate + ffn);
#pragma unroll
    for (int j = 0; j < 8; j++) g.v[j] = g.v[j] * sigmoid(g.v[j]) * u.v[j];
    store8(out + at, g);
}

struct Rotation {
    const real *bias, *q_norm, *k_norm;
    const float *cosines, *sines;
    float eps;
};

// Prepares one head of a raw qkv row for attention: bias, norm and rotation, rounded as the separate kernels do.
// A warp takes a head. A null pointer means that the model family does not have that operation.
template <int D>
__device__ inline void place_head(const real* raw, const real* bias, const real* norm, const float* cos, const float* sin,
                                  float eps, real* to, real* too) {
    int lane = threadIdx.x & 31;
    float low[D / 64], high[D / 64], square = 0.0f;
#pragma unroll
    for (int n = 0; n < D / 64; n++) {
        int i = n * 32 + lane;
        low[n] = get(load_fresh1(raw + i));
        high[n] = get(load_fresh1(raw + i + D / 2));
        if (bias) {
            low[n] = get(put(low[n] + get(bias[i])));
            high[n] = get(put(high[n] + get(bias[i + D / 2])));
        }
        square += low[n] * low[n] + high[n] * high[n];
    }
    if (norm) {
        float r = 1.0f / sqrtf(warp_sum(square) / D + eps);
#pragma unroll
        for (int n = 0; n < D / 64; n++) {
            int i = n * 32 + lane;
            low[n] = get(put(low[n] * (r * get(norm[i]))));
            high[n] = get(put(high[n] * (r * get(norm[i + D / 2]))));
        }
    }
#pragma unroll
    for (int n = 0; n < D / 64; n++) {
        int i = n * 32 + lane;
        float a = low[n], b = high[n];
        if (cos) {
            a = low[n] * cos[i] - high[n] * sin[i];
            b = high[n] * cos[i] + low[n] * sin[i];
        }
        to[i] = put(a);
        to[i + D / 2] = put(b);
        if (too) {
            too[i] = put(a);
            too[i + D / 2] = put(b);
        }
    }
}

// The new token's key and value as sixteen keys of which the first counts.
template <int D> __device__ inline void new_key(KeysValues<D>& at, const real* key, const real* value) {
    int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
#pragma unroll
    for (int n = 0; n < 2; n++) {
#pragma unroll
        for (int i = 0; i < D / 32; i++) at.k[n][i] = load16(key + i * 32 + t * 8);
    }
#pragma unroll
    for (int n = 0; n < 4; n++) {
#pragma unroll
        for (int i = 0; i < D / 64; i++) at.v[n][i] = load16(value + i * 64 + g * 8);
    }
}

// place_token and decode_flash in one, of raw qkv rows: the same grid. Every block makes its own queries; the one whose
// run holds the new position makes the key and the value too, uses them from shared memory, and puts them into the
// cache, where no other block of this launch reads them. Older keys do not depend on the kernel before, nor does
// `positions`, which the one before that has written at the latest: the first are on their way before the wait.
template <int D, bool WOVEN>
__device__ void attend_token(const real* qkv, real* keys, real* values, const int* positions, const Rotation& turn,
                             float* partial, float* bounds, u32* arrivals, real* y, int capacity, int heads,
                             int kv_heads, float scale) {
    __shared__ float tops[DECODE_WARPS][SHARE], sums[DECODE_WARPS][SHARE];
    __shared__ __align__(16) float outs[DECODE_WARPS][SHARE][D];
    __shared__ __align__(16) real placed[SHARE + 2][D];
    __shared__ bool last;
    int row = blockIdx.x, group = heads / kv_heads, parts = (group + SHARE - 1) / SHARE, runs = gridDim.z;
    int part = blockIdx.y % parts, kv = blockIdx.y / parts, first = kv * group + part * SHARE;
    int here = min(SHARE, kv * group + group - first), position = __ldcg(positions + row), used = position / RUN + 1;
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
    int key = blockIdx.z * RUN + warp * 16, end = min((int)(blockIdx.z + 1) * RUN, position);
    i64 width = (i64)kv_heads * D, base = (i64)row * capacity * width + kv * D;
    bool idle = (int)blockIdx.z >= used, newest = (int)blockIdx.z == used - 1;
    KeysValues<D> now, next;
    if (!idle && key < end) now.load(keys + base, values + base, width, key, end);
    step_wait();
    if (idle) return;
    const real* raw = qkv + (i64)row * (heads + 2 * kv_heads) * D;
    const float *cos = turn.cosines + (i64)position * (D / 2), *sin = turn.sines + (i64)position * (D / 2);
    for (int n = warp; n < here + (newest ? 2 : 0); n += DECODE_WARPS) {
        bool is_key = n == here, is_value = n > here;
        int head = is_value ? heads + kv_heads + kv : is_key ? heads + kv : first + n;
        const real* norm = is_value ? 0 : is_key ? turn.k_norm : turn.q_norm;
        real* store = is_value ? values : is_key ? keys : 0;
        if (store) store = part == 0 ? store + base + position * width : 0;
        place_head<D>(raw + head * D, turn.bias ? turn.bias + head * D : 0, norm, is_value ? 0 : cos, sin, turn.eps,
                      placed[is_value ? SHARE + 1 : is_key ? SHARE : n], store);
    }
    __syncthreads();
    Attended<D> mine;
    mine.clear();
    Sixteen q[D / 32];
#pragma unroll
    for (int i = 0; i < D / 32; i++) q[i] = load16(placed[min(g, here - 1)] + i * 32 + t * 8);
    for (; key < end; key += DECODE_WARPS * 16) {
        if (key + DECODE_WARPS * 16 < end) next.load(keys + base, values + base, width, key + DECODE_WARPS * 16, end);
        mine.add(q, now, key, end, scale);
        now = next;
    }
    if (newest && warp == DECODE_WARPS - 1) {
        new_key<D>(now, placed[SHARE], placed[SHARE + 1]);
        mine.add(q, now, 0, 1, scale);
    }
    join_warps<D>(mine, tops, sums, outs);
    i64 head = (i64)row * heads + first;
    store_run<D, WOVEN>(tops, sums, outs, partial, bounds, y, head, here, runs, used);
    if (used == 1) return;
    step_fence();
    __syncthreads();
    u32* arrived = arrivals + (i64)row * gridDim.y + blockIdx.y;
    if (threadIdx.x == 0) last = atomicAdd(arrived, 1u) == (u32)used - 1;
    __syncthreads();
    if (!last) return;
    if (threadIdx.x == 0) *arrived = 0;
    join_runs<D, WOVEN>(partial, bounds, y, head, here, runs, used);
}

// For the products of decode_product.cu.
extern "C" __global__ void __launch_bounds__(256)
    step_attention(const real* qkv, real* keys, real* values, const int* positions, const real* bias,
                   const real* q_norm, const real* k_norm, const float* cosines, const float* sines, float* partial,
                   float* bounds, u32* arrivals, real* y, int capacity, int heads, int kv_heads, float scale,
                   float eps) {
    Rotation turn = {bias, q_norm, k_norm, cosines, sines, eps};
    attend_token<HEAD_DIM, true>(qkv, keys, values, positions, turn, partial, bounds, arrivals, y, capacity, heads,
                                 kv_heads, scale);
}

// For those of cuBLAS.
extern "C" __global__ void __launch_bounds__(256)
    step_attention_rows(const real* qkv, real* keys, real* values, const int* positions, const real* bias,
                        const real* q_norm, const real* k_norm, const float* cosines, const float* sines, float* partial,
                        float* bounds, u32* arrivals, real* y, int capacity, int heads, int kv_heads, float scale,
                        float eps) {
    Rotation turn = {bias, q_norm, k_norm, cosines, sines, eps};
    attend_token<HEAD_DIM, false>(qkv, keys, values, positions, turn, partial, bounds, arrivals, y, capacity, heads,
                                  kv_heads, scale);
}

// `sample` of slot n from row n, which is read once unless draws are truncated: largest logit, its first token and the
// sum of weights are kept together, each thread's against the largest it has seen. Warps own the runs that `walk` takes.
extern "C" __global__ void __launch_bounds__(1024)
    step_sample(const float* logits, const Draw* draw, Slot* states, int* tokens_out, float* logprobs_out, int capacity,
                int vocab) {
    step_wait();
    Slot* state = states + blockIdx.x;
    if (state->done) return;
    const float* row = logits + (i64)blockIdx.x * vocab;
    float factor = draw->temperature > 0.0f ? 1.0f / draw->temperature : 1.0f, high = NEGATIVE, sum = 0.0f;
    TokenRun tokens = token_run(vocab);
    int first = vocab;
    // Eight at a time: usually one comparison with the largest so far is enough.
    for (int i = tokens.begin + (threadIdx.x & 31); i < tokens.end; i += 256) {
        float x[8], most = NEGATIVE;
#pragma unroll
        for (int j = 0; j < 8; j++) x[j] = i + j * 32 < tokens.end ? row[i + j * 32] : NEGATIVE;
#pragma unroll
        for (int j = 0; j < 8; j++) most = fmaxf(most, x[j]);
        if (most > high) {
            sum *= fast_exp((high - most) * factor);
            high = most;
            first = vocab;
#pragma unroll
            for (int j = 7; j >= 0; j--) first = x[j] == most ? i + j * 32 : first;
        }
#pragma unroll
        for (int j = 0; j < 8; j++) sum += i + j * 32 < tokens.end ? fast_exp((x[j] - high) * factor) : 0.0f;
    }
    float top = block_max(high);
    sum *= fast_exp((high - top) * factor);
    float total = block_sum(sum);
    int best = (int)-block_max(high >= top ? -(float)first : -(float)vocab);
    if (best >= vocab) best = 0;
    int token = best;
    if (draw->temperature > 0.0f) {
        double uniform = noise_uniform_f64(state->seed, (u64)state->length);
        u32 floor = kept_from(draw, row, vocab, top, factor);
        token = floor ? invert(row, vocab, top, factor, floor, uniform, best)
                      : walk(row, tokens, top, factor, 0, uniform, best, warp_sum(sum));
    }
    // Every thread must read the state before one of them changes it.
    __syncthreads();
    if (threadIdx.x != 0) return;
    float logprob = (row[token] - top) * factor - logf(total);
    settle(draw, state, token, logprob, tokens_out + (i64)blockIdx.x * capacity, logprobs_out + (i64)blockIdx.x * capacity);
}
#endif
