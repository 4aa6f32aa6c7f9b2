// Embedding, biases, rotary positions, and the key/value cache.
//
// A qkv row is (heads + 2 * kv_heads) * dim values: q heads, then k heads, then v heads. The rotation turns pairs
// (i, i + dim / 2) of every q and k head. `cosines` and `sines` are (positions, dim / 2).

// Grid = rows, one block a row.
extern "C" __global__ void embed(const int* tokens, const real* table, real* x, int width) {
    const real* from = table + (i64)tokens[blockIdx.x] * width;
    real* to = x + (i64)blockIdx.x * width;
    for (int i = threadIdx.x * 8; i < width; i += blockDim.x * 8) store8(to + i, load8(from + i));
}

// Adds d of every row to its token's row of the gradient, without atomics: `rows` lists the batch's rows sorted by
// token, and block b owns rows[starts[b] .. starts[b + 1]], all of one token. Grid = distinct tokens.
extern "C" __global__ void embed_gradient(const int* tokens, const int* rows, const int* starts, const real* d,
                                          float* gradient, int width) {
    int begin = starts[blockIdx.x], end = starts[blockIdx.x + 1];
    float* to = gradient + (i64)tokens[rows[begin]] * width;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float sum = 0.0f;
        for (int n = begin; n < end; n++) sum += get(d[(i64)rows[n] * width + i]);
        to[i] += sum;
    }
}

// Adds a bias to every row. Grid = rows.
extern "C" __global__ void add_bias(real* y, const real* bias, int width) {
    real* row = y + (i64)blockIdx.x * width;
    for (int i = threadIdx.x * 8; i < width; i += blockDim.x * 8) {
        Eight a = load8(row + i), b = load8(bias + i);
#pragma unroll
        for (int j = 0; j < 8; j++) a.v[j] += b.v[j];
        store8(row + i, a);
    }
}

__device__ inline void load_floats(float* to, const float* from) {
    float4 low = ((const float4*)from)[0], high = ((const float4*)from)[1];
    to[0] = low.x; to[1] = low.y; to[2] = low.z; to[3] = low.w;
    to[4] = high.x; to[5] = high.y; to[6] = high.z; to[7] = high.w;
}

// Rotates q and k of every qkv row in place. `sign` -1 rotates back, which is the gradient. Grid = rows.
extern "C" __global__ void rope(real* qkv, const int* positions, const float* cosines, const float* sines, int heads,
                                int kv_heads, int dim, float sign) {
    int half = dim / 2, pairs = (heads + kv_heads) * half;
    real* row = qkv + (i64)blockIdx.x * (heads + 2 * kv_heads) * dim;
    const float* cos = cosines + (i64)positions[blockIdx.x] * half;
    const float* sin = sines + (i64)positions[blockIdx.x] * half;
    if (half % 8 == 0) {
        for (int n = threadIdx.x * 8; n < pairs; n += blockDim.x * 8) {
            int head = n / half, i = n % half;
            real* low = row + head * dim + i;
            Eight a = load8(low), b = load8(low + half);
            float c[8], s[8];
            load_floats(c, cos + i);
            load_floats(s, sin + i);
#pragma unroll
            for (int j = 0; j < 8; j++) {
                float x = a.v[j], turn = s[j] * sign;
                a.v[j] = x * c[j] - b.v[j] * turn;
                b.v[j] = b.v[j] * c[j] + x * turn;
            }
            store8(low, a);
            store8(low + half, b);
        }
        return;
    }
    for (int n = threadIdx.x; n < pairs; n += blockDim.x) {
        int head = n / half, i = n % half;
        real* low = row + head * dim + i;
        float a = get(low[0]), b = get(low[half]), c = cos[i], s = sin[i] * sign;
        low[0] = put(a * c - b * s);
        low[half] = put(b * c + a * s);
    }
}

// One new token of each answer: adds the bias to its qkv row (none if null), rotates q and k, and writes k and v to the
// cache only. Row n is slot n. It rounds where `add_bias` and `rope` round. Grid = rows.
extern "C" __global__ void place_token(real* qkv, const real* bias, const int* positions, const float* cosines,
                                       const float* sines, real* keys, real* values, int capacity, int heads,
                                       int kv_heads, int dim) {
    int half = dim / 2, all = heads + 2 * kv_heads, position = positions[blockIdx.x];
    real* row = qkv + (i64)blockIdx.x * all * dim;
    const float* cos = cosines + (i64)position * half;
    const float* sin = sines + (i64)position * half;
    i64 slot = ((i64)blockIdx.x * capacity + position) * kv_heads * dim;
    for (int n = threadIdx.x; n < all * half; n += blockDim.x) {
        int head = n / half, i = n % half;
        real *low = row + head * dim + i, *high = low + half;
        float a = get(*low), b = get(*high);
        if (bias) {
            a = get(put(a + get(bias[head * dim + i])));
            b = get(put(b + get(bias[head * dim + i + half])));
        }
        if (head < heads + kv_heads) {
            float c = cos[i], s = sin[i], x = a;
            a = a * c - b * s;
            b = b * c + x * s;
        }
        if (head >= heads) {
            bool is_key = head < heads + kv_heads;
            low = (is_key ? keys + slot + (head - heads) * dim : values + slot + (head - heads - kv_heads) * dim) + i;
            high = low + half;
        }
        *low = put(a);
        *high = put(b);
    }
}

// Copies k and v of every row to its place in the cache: (slots, capacity, kv_heads * dim) each. Grid = rows.
extern "C" __global__ void store_cache(const real* qkv, real* keys, real* values, const int* slots,
                                       const int* positions, int capacity, int q_width, int kv_width) {
    const real* k = qkv + (i64)blockIdx.x * (q_width + 2 * kv_width) + q_width;
    i64 to = ((i64)slots[blockIdx.x] * capacity + positions[blockIdx.x]) * kv_width;
    for (int i = threadIdx.x * 8; i < kv_width; i += blockDim.x * 8) {
        store8(keys + to + i, load8(k + i));
        store8(values + to + i, load8(k + kv_width + i));
    }
}

// Copies the first `rows` rows of one slot's keys and values to other slots. Grid (rows, copies), per layer.
extern "C" __global__ void copy_cache(real* keys, real* values, const int* targets, int from, int capacity,
                                      int kv_width) {
    i64 source = ((i64)from * capacity + blockIdx.x) * kv_width;
    i64 to = ((i64)targets[blockIdx.y] * capacity + blockIdx.x) * kv_width;
    for (int i = threadIdx.x * 8; i < kv_width; i += blockDim.x * 8) {
        store8(keys + to + i, load8(keys + source + i));
        store8(values + to + i, load8(values + source + i));
    }
}
