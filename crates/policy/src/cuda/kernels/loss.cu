// From hidden states to logprobs, and from coefficients back to the gradient of the logits.
//
// Only rows that predict a scored token are gathered, a chunk at a time. Logits are float, their gradient `real`.

// y[n] = x[rows[n]]. Grid = gathered rows.
extern "C" __global__ void gather_rows(const real* x, const int* rows, real* y, int width) {
    const real* from = x + (i64)rows[blockIdx.x] * width;
    real* to = y + (i64)blockIdx.x * width;
    for (int i = threadIdx.x * 8; i < width; i += blockDim.x * 8) store8(to + i, load8(from + i));
}

// y[rows[n]] = x[n]: every row is named at most once. Grid = gathered rows.
extern "C" __global__ void scatter_rows(const real* x, const int* rows, real* y, int width) {
    const real* from = x + (i64)blockIdx.x * width;
    real* to = y + (i64)rows[blockIdx.x] * width;
    for (int i = threadIdx.x * 8; i < width; i += blockDim.x * 8) store8(to + i, load8(from + i));
}

// A running softmax: the largest logit, the sum of exp((z - top) * factor), and the same weighted by the exponent.
struct Softmax {
    float top, sum, weighted;
};

// Rescales a sum from an old maximum to a new one. At first there is nothing to rescale.
__device__ inline void raise(Softmax& s, float top, float factor) {
    float shift = (s.top - top) * factor, shrink = fast_exp(shift);
    s.weighted = s.sum > 0.0f ? shrink * (s.weighted + shift * s.sum) : 0.0f;
    s.sum *= shrink;
    s.top = top;
}

template <int N> __device__ inline void take(Softmax& s, const float* z, float factor) {
    float best = z[0];
#pragma unroll
    for (int j = 1; j < N; j++) best = fmaxf(best, z[j]);
    if (best > s.top) raise(s, best, factor);
#pragma unroll
    for (int j = 0; j < N; j++) {
        float gap = (z[j] - s.top) * factor, e = fast_exp(gap);
        s.sum += e;
        s.weighted += e * gap;
    }
}

__device__ inline void load4(float* to, const float* from) {
    float4 four = *(const float4*)from;
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

// One block of 512 a row: logprob and entropy of its target at temperature 1 / factor.
// `scores` gets (logprob, entropy), `facts` (largest logit, 1 / sum of exponentials), two floats a row each.
extern "C" __global__ void __launch_bounds__(512)
    score_rows(const float* logits, const int* targets, float* scores, float* facts, int vocab, float factor) {
    const float* row = logits + (i64)blockIdx.x * vocab;
    Softmax s = {NEGATIVE, 0.0f, 0.0f};
    int i = threadIdx.x, step = blockDim.x;
    // Rows begin at multiples of 16 bytes only where the vocabulary is a multiple of four.
    if (vocab % 4 == 0) {
        // Loads sixteen values before it uses any.
        for (i *= 4, step *= 4; i + 3 * step < vocab; i += 4 * step) {
            float z[16];
#pragma unroll
            for (int n = 0; n < 4; n++) load4(z + 4 * n, row + i + n * step);
            take<16>(s, z, factor);
        }
        for (; i < vocab; i += step) {
            float z[4];
            load4(z, row + i);
            take<4>(s, z, factor);
        }
    }
    for (; i < vocab; i += step) take<1>(s, row + i, factor);
    raise(s, block_max(s.top), factor);
    float best = s.top, weighted = block_sum(s.weighted), sum = block_sum(s.sum);
    if (threadIdx.x == 0) {
        float log_sum = logf(sum), chosen = (row[targets[blockIdx.x]] - best) * factor;
        scores[2 * blockIdx.x] = chosen - log_sum;
        scores[2 * blockIdx.x + 1] = log_sum - weighted / sum;
        facts[2 * blockIdx.x] = best;
        facts[2 * blockIdx.x + 1] = 1.0f / sum;
    }
}

// d loss / d logits from d loss / d logprob: slope * factor * (is_target - probability). Grid (columns / 4096, rows),
// 256 threads.
extern "C" __global__ void __launch_bounds__(256)
    logit_gradient(const float* logits, const int* targets, const float* facts, const float* slopes, real* d, int vocab,
                   float factor) {
    int row = blockIdx.y, base = blockIdx.x * 4096, target = targets[row];
    float top = facts[2 * row], slope = slopes[row] * factor, scale = -slope * facts[2 * row + 1];
    const float* from = logits + (i64)row * vocab;
    real* to = d + (i64)row * vocab;
    if (vocab % 4 == 0) {
        float z[4][4];
        base += threadIdx.x * 4;
#pragma unroll
        for (int n = 0; n < 4; n++) {
            if (base + n * 1024 < vocab) load4(z[n], from + base + n * 1024);
        }
#pragma unroll
        for (int n = 0; n < 4; n++) {
            int at = base + n * 1024;
            if (at >= vocab) return;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                z[n][j] = scale * fast_exp((z[n][j] - top) * factor);
                if (at + j == target) z[n][j] += slope;
            }
            store4(to + at, z[n]);
        }
        return;
    }
    for (int i = base + threadIdx.x; i < min(base + 4096, vocab); i += 256) {
        float value = scale * fast_exp((from[i] - top) * factor);
        to[i] = put(i == target ? value + slope : value);
    }
}
