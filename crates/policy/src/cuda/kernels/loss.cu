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

// One block of 512 a row: logprob and entropy of its target at temperature 1 / factor.
// `scores` gets (logprob, entropy), `facts` (largest logit, 1 / sum of exponentials), two floats a row each.
extern "C" __global__ void score_rows(const float* logits, const int* targets, float* scores, float* facts, int vocab,
                                      float factor) {
    const float* row = logits + (i64)blockIdx.x * vocab;
    float top = NEGATIVE, sum = 0.0f, weighted = 0.0f;
    for (int i = threadIdx.x; i < vocab; i += blockDim.x) {
        float z = row[i];
        if (z > top) {
            // What was summed below the old maximum is brought to the new one; nothing was, at first.
            float shift = (top - z) * factor, shrink = sum > 0.0f ? expf(shift) : 0.0f;
            weighted = sum > 0.0f ? shrink * (weighted + shift * sum) : 0.0f;
            sum *= shrink;
            top = z;
        }
        float gap = (z - top) * factor, e = expf(gap);
        sum += e;
        weighted += e * gap;
    }
    float best = block_max(top);
    float shift = (top - best) * factor, shrink = sum > 0.0f ? expf(shift) : 0.0f;
    weighted = block_sum(sum > 0.0f ? shrink * (weighted + shift * sum) : weighted);
    sum = block_sum(sum > 0.0f ? sum * shrink : sum);
    if (threadIdx.x == 0) {
        float log_sum = logf(sum), chosen = (row[targets[blockIdx.x]] - best) * factor;
        scores[2 * blockIdx.x] = chosen - log_sum;
        scores[2 * blockIdx.x + 1] = log_sum - weighted / sum;
        facts[2 * blockIdx.x] = best;
        facts[2 * blockIdx.x + 1] = 1.0f / sum;
    }
}

// d loss / d logits from d loss / d logprob: slope * factor * (is_target - probability). Grid (columns / 1024, rows).
extern "C" __global__ void logit_gradient(const float* logits, const int* targets, const float* facts,
                                          const float* slopes, real* d, int vocab, float factor) {
    int row = blockIdx.y, target = targets[row];
    float top = facts[2 * row], slope = slopes[row] * factor, scale = slope * facts[2 * row + 1];
    for (int n = 0; n < 4; n++) {
        int i = blockIdx.x * 1024 + n * 256 + threadIdx.x;
        if (i >= vocab) return;
        float value = -scale * expf((logits[(i64)row * vocab + i] - top) * factor);
        d[(i64)row * vocab + i] = put(i == target ? value + slope : value);
    }
}
