// The choice of the next token, and the state of every answer, without the host.
//
// One block of 1024 an entry. Entry n draws for slot slots[n] from logits row rows[n]; ended answers do nothing.
// Half of the device's cores sum whole rows up to three times, so in bf16 exponentials must be fast.
// A draw inverts the cumulative weights of the kept tokens at noise(seed, length), in token order, as the CPU does.

struct Draw {
    float temperature, top_p, min_p;
    int top_k;
    int stops;         // how many of stop_tokens count
    int stop_tokens[13];
};

struct Slot {
    u64 seed;
    int token;     // the last token: input of the next step
    int position;  // its position
    int length;    // tokens drawn
    int limit;     // tokens at most
    int done;      // 1: ended
    int unused;
};

// Maps a float to bits with the same order.
__device__ inline u32 order_of(float x) {
    u32 bits = __float_as_uint(x);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// The largest threshold whose tokens (order >= threshold) reach the goal: a count, or a mass of weights.
__device__ u32 threshold(const float* row, int vocab, float top, float factor, u32 floor, int count_goal,
                         float mass_goal) {
    u32 found = 0;
    for (int bit = 31; bit >= 0; bit--) {
        u32 trial = found | (1u << bit);
        float sum = 0.0f;
        for (int i = threadIdx.x; i < vocab; i += blockDim.x) {
            u32 order = order_of(row[i]);
            if (order >= trial && order >= floor) sum += count_goal ? 1.0f : fast_exp((row[i] - top) * factor);
        }
        sum = block_sum(sum);
        if (count_goal ? sum >= (float)count_goal : sum >= mass_goal) found = trial;
    }
    return max(found, floor);
}

// The least order a token must have to be drawn. Tokens as likely as the last that is kept are kept too, as on the CPU.
__device__ u32 kept_from(const Draw* draw, const float* row, int vocab, float top, float factor) {
    u32 floor = 0;
    if (draw->top_k > 0 && draw->top_k < vocab) floor = threshold(row, vocab, top, factor, 0, draw->top_k, 0.0f);
    if (draw->top_p < 1.0f) {
        float mass = 0.0f;
        for (int i = threadIdx.x; i < vocab; i += blockDim.x)
            if (order_of(row[i]) >= floor) mass += fast_exp((row[i] - top) * factor);
        mass = block_sum(mass);
        floor = threshold(row, vocab, top, factor, floor, 0, draw->top_p * mass);
    }
    if (draw->min_p > 0.0f) floor = max(floor, order_of(top + logf(draw->min_p) / factor));
    return floor;
}

// The run of tokens that a warp owns.
struct TokenRun {
    int begin, end;
};

__device__ inline TokenRun token_run(int vocab) {
    int warp = threadIdx.x >> 5, warps = blockDim.x >> 5, each = (vocab + warps - 1) / warps;
    return {warp * each, min(warp * each + each, vocab)};
}

// Inverts the cumulative weights, whose sum over each warp's run is `sum`: the warp in whose run the goal lies walks it.
__device__ int walk(const float* row, TokenRun tokens, float top, float factor, u32 floor, double uniform, int best,
                    float sum) {
    __shared__ double sums[32];
    __shared__ int found;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    int begin = tokens.begin, end = tokens.end;
    __syncthreads();
    if (lane == 0) sums[warp] = sum;
    if (threadIdx.x == 0) found = best;
    __syncthreads();
    double total = 0.0, before = 0.0;
    for (int w = 0; w < warps; w++) {
        if (w < warp) before += sums[w];
        total += sums[w];
    }
    double goal = uniform * total;
    bool last = true;
    for (int w = warp + 1; w < warps; w++) last = last && sums[w] == 0.0;
    bool here = goal >= before && (goal < before + sums[warp] || last) && sums[warp] > 0.0;
    if (here) {
        int choice = -1, reserve = -1;
        double run = before;
        // Loads eight times 32 tokens at once to hide latency. The sums are those of one 32 after the other.
        const int AT_ONCE = 8;
        for (int first = begin; first < end && choice < 0; first += 32 * AT_ONCE) {
            float w[AT_ONCE], upto[AT_ONCE];
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) {
                int i = first + j * 32 + lane;
                float x = row[min(i, end - 1)];
                upto[j] = w[j] = i < end && order_of(x) >= floor ? fast_exp((x - top) * factor) : 0.0f;
            }
#pragma unroll
            for (int o = 1; o < 32; o <<= 1) {
#pragma unroll
                for (int j = 0; j < AT_ONCE; j++) {
                    float other = __shfl_up_sync(WARP, upto[j], o);
                    if (lane >= o) upto[j] += other;
                }
            }
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) {
                u32 hit = __ballot_sync(WARP, w[j] > 0.0f && run + (double)upto[j] > goal);
                u32 any = __ballot_sync(WARP, w[j] > 0.0f);
                if (hit && choice < 0) choice = first + j * 32 + __ffs(hit) - 1;
                if (any) reserve = first + j * 32 + 31 - __clz(any);
                run += (double)__shfl_sync(WARP, upto[j], 31);
            }
        }
        if (lane == 0) found = choice >= 0 ? choice : (reserve >= 0 ? reserve : best);
    }
    __syncthreads();
    return found;
}

__device__ int invert(const float* row, int vocab, float top, float factor, u32 floor, double uniform, int best) {
    TokenRun tokens = token_run(vocab);
    float sum = 0.0f;
#pragma unroll 8
    for (int i = tokens.begin + (threadIdx.x & 31); i < tokens.end; i += 32)
        if (order_of(row[i]) >= floor) sum += fast_exp((row[i] - top) * factor);
    return walk(row, tokens, top, factor, floor, uniform, best, warp_sum(sum));
}

// Updates an answer's state with a drawn token; one thread does this.
__device__ inline void settle(const Draw* draw, Slot* state, int token, float logprob, int* token_out,
                              float* logprob_out) {
    int length = state->length;
    token_out[length] = token;
    logprob_out[length] = logprob;
    int ended = length + 1 >= state->limit;
    for (int n = 0; n < draw->stops; n++) ended |= draw->stop_tokens[n] == token;
    state->token = token;
    state->position += 1;
    state->length = length + 1;
    state->done = ended;
}

// A thread may use 64 registers, as 1024 of them share a block.
extern "C" __global__ void __launch_bounds__(1024)
    sample(const float* logits, const int* rows, const int* slots, const Draw* draw,
                                  Slot* states, int* tokens_out, float* logprobs_out, int capacity, int vocab) {
    int slot = slots[blockIdx.x];
    Slot* state = states + slot;
    if (state->done) return;
    const float* row = logits + (i64)rows[blockIdx.x] * vocab;
    float factor = draw->temperature > 0.0f ? 1.0f / draw->temperature : 1.0f;
    float high = NEGATIVE;
#pragma unroll 8
    for (int i = threadIdx.x; i < vocab; i += blockDim.x) high = fmaxf(high, row[i]);
    float top = block_max(high), sum = 0.0f;
    int first = vocab;
#pragma unroll 8
    for (int i = threadIdx.x; i < vocab; i += blockDim.x) {
        sum += fast_exp((row[i] - top) * factor);
        if (row[i] >= top && i < first) first = i;
    }
    sum = block_sum(sum);
    // The lowest token of those with the largest logit: token numbers are exact in a float.
    int best = (int)-block_max(-(float)first);
    if (best >= vocab) best = 0;
    int token = best;
    if (draw->temperature > 0.0f) {
        u32 floor = kept_from(draw, row, vocab, top, factor);
        token = invert(row, vocab, top, factor, floor, noise_uniform_f64(state->seed, (u64)state->length), best);
    }
    // Every thread must read the state before one of them changes it.
    __syncthreads();
    if (threadIdx.x != 0) return;
    float logprob = (row[token] - top) * factor - logf(sum);
    settle(draw, state, token, logprob, tokens_out + (i64)slot * capacity, logprobs_out + (i64)slot * capacity);
}

// Inputs of a decode step from the states: one thread a slot.
extern "C" __global__ void decode_inputs(const Slot* states, int* tokens, int* positions, int count) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= count) return;
    tokens[n] = states[n].token;
    positions[n] = states[n].position;
}
