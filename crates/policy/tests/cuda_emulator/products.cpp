// The products of decode_product.cu against sums in double, over random shapes: rows, slices, phases, warps, adapters.
// Every product runs twice, once with blocks and threads in the opposite order, and must give the same bits.
//
//   g++ -std=c++17 -O2 -w -fno-strict-aliasing -o products products.cpp && ./products
#include "shim.h"
#define HEAD_DIM 64
#include "../../src/cuda/kernels/common.cu"
#include "../../src/cuda/kernels/tensor.cu"
#include "../../src/cuda/kernels/decode.cu"
#include "../../src/cuda/kernels/decode_flash.cu"
#include "../../src/cuda/kernels/decode_tile.cu"
#include "../../src/cuda/kernels/decode_product.cu"
#include <random>
#include <vector>

static std::mt19937 rng(1);
static unsigned below(unsigned n) { return rng() % n; }
static std::vector<real> reals(size_t count, float scale) {
    std::vector<real> values(count + 64);
    for (auto& value : values) value = put((float)((int)below(2001) - 1000) / 1000.0f * scale);
    return values;
}

typedef decltype(&step_store_8) Kernel;
static Kernel kernels[4][4] = {{step_store_8, step_store_16, step_store_32, step_store_64},
                               {step_add_8, step_add_16, step_add_32, step_add_64},
                               {step_gate_8, step_gate_16, step_gate_32, step_gate_64},
                               {step_head_8, step_head_16, step_head_32, step_head_64}};

struct Case {
    int mode, rows, inputs, outputs[3], rank, adapted;  // `adapted`: a bit for each module
    bool normed;
    int groups, across, splits, phase, blocks;
};

struct Data {
    std::vector<real> x, norm, w, a, b[3], y;
    std::vector<float> squares, wide;
};

static const float EPS = 1e-6f, SCALE = 2.0f;
static const int PARTS = 3;  // of the squares

static int modules(const Case& c) { return c.mode == STEP_GATE ? 2 : 3; }
static int width(const Case& c, int module) { return c.mode == STEP_GATE ? c.outputs[0] : c.outputs[module]; }
static int columns(const Case& c) { return c.mode == STEP_GATE ? c.outputs[0] : c.outputs[0] + c.outputs[1] + c.outputs[2]; }

static Data data(const Case& c) {
    int parts = __builtin_popcount(c.adapted), all = c.mode == STEP_GATE ? 2 * c.outputs[0] : columns(c);
    Data d = {reals((size_t)c.rows * c.inputs, 1), reals(c.inputs, 1), reals((size_t)all * c.inputs, 0.1f),
              reals((size_t)parts * c.rank * c.inputs, 0.1f)};
    for (int m = 0; m < modules(c); m++) d.b[m] = reals((size_t)width(c, m) * c.rank, 0.3f);
    d.y = reals((size_t)c.rows * columns(c), 1);
    d.wide.assign((size_t)c.rows * columns(c) + 8, NAN);
    d.squares.resize(c.rows * PARTS);
    for (int row = 0; row < c.rows; row++) {
        float square = 0;
        for (int k = 0; k < c.inputs; k++) square += get(d.x[row * c.inputs + k]) * get(d.x[row * c.inputs + k]);
        for (int n = 0; n < PARTS; n++) d.squares[row * PARTS + n] = square / PARTS;
    }
    return d;
}

// Runs the kernel; the squares it leaves, or nothing where the shape has no room.
static std::vector<float> run(Case c, Data& d, bool backwards, bool& clean) {
    int log = c.rows <= 8 ? 0 : c.rows <= 16 ? 1 : c.rows <= 32 ? 2 : 3, pad = 8 << log;
    int depth = pad >= 32 ? STEP_DEPTH_FULL : STEP_DEPTH, wide = c.groups * 32, chunks = (c.inputs + 31) / 32;
    int per = (chunks + c.splits - 1) / c.splits, splits = (chunks + per - 1) / per, turn = c.across * depth;
    int phase = c.phase < per ? max(1, c.phase / turn) * turn : per, tiles = 0, parts = PARTS;
    for (int m = 0; m < (c.mode == STEP_GATE ? 1 : 3); m++) {
        int each = c.mode == STEP_GATE ? wide / 2 : wide;
        tiles += (c.outputs[m] + each - 1) / each;
    }
    int adapted = __builtin_popcount(c.adapted), low = adapted ? (c.mode == STEP_GATE ? adapted : 1) * c.rank : 0;
    int lows = (low + 31) / 32;
    std::vector<float> squares_out(c.rows * tiles, NAN), partial((size_t)tiles * splits * c.rows * wide, NAN);
    std::vector<u32> arrivals(tiles, 0);
    const real *x = d.x.data(), *norm = c.normed ? d.norm.data() : 0, *w = d.w.data(), *a = d.a.data(), *b[3];
    for (int m = 0; m < 3; m++) b[m] = c.adapted >> m & 1 ? d.b[m].data() : 0;
    const float* squares = d.squares.data();
    void* y = c.mode == STEP_HEAD ? (void*)d.wide.data() : (void*)d.y.data();
    float *left = squares_out.data(), *sums = partial.data(), eps = EPS, scale = SCALE;
    u32* counts = arrivals.data();
    void* arguments[] = {&x, &norm, &squares, &w, &a, &b[0], &b[1], &b[2], &y, &left, &sums, &counts, &parts, &c.rows,
                         &c.inputs, &c.outputs[0], &c.outputs[1], &c.outputs[2], &c.rank, &tiles, &c.groups, &lows,
                         &c.across, &per, &phase, &eps, &scale};
    size_t each = step_pitch(min(phase, per)) * 2 + max(c.across / 2, 1) * ((c.groups + lows) * 32 + 4) * 4;
    unsigned threads = (c.groups + lows) * c.across * 32, blocks = c.mode == STEP_HEAD ? min(c.blocks, tiles) : tiles;
    emu_backwards = backwards;
    EmuLaunch launch = {{blocks, (unsigned)splits, 1}, {threads, 1, 1}, pad * (each + (lows ? step_pitch(lows) * 2 : 0))};
    emu_prepare(kernels[c.mode][log], arguments, launch)();
    for (u32 count : arrivals) clean = clean && count == 0;
    std::vector<float> total(c.rows, 0.0f);
    for (int n = 0; n < c.rows * tiles; n++) total[n / tiles] += squares_out[n];
    return total;
}

// The sums of a row, in double.
static std::vector<double> wanted(const Case& c, const Data& d, int row) {
    std::vector<float> x(c.inputs);
    float square = 0;
    for (int n = 0; n < PARTS; n++) square += d.squares[row * PARTS + n];
    float r = 1.0f / sqrtf(square / c.inputs + EPS);
    for (int k = 0; k < c.inputs; k++) {
        x[k] = get(d.x[row * c.inputs + k]);
        if (c.normed) x[k] = get(put(x[k] * (r * get(d.norm[k]))));
    }
    std::vector<double> low(__builtin_popcount(c.adapted) * c.rank), sums;
    for (size_t n = 0; n < low.size(); n++)
        for (int k = 0; k < c.inputs; k++) low[n] += (double)x[k] * get(d.a[n * c.inputs + k]);
    for (int m = 0, nth = 0; m < modules(c); nth += c.adapted >> m & 1, m++)
        for (int o = 0; o < width(c, m); o++) {
            double sum = 0;
            for (int k = 0; k < c.inputs; k++) sum += (double)x[k] * get(d.w[sums.size() * c.inputs + k]);
            for (int n = 0; c.adapted >> m & 1 && n < c.rank; n++)
                sum += SCALE * low[nth * c.rank + n] * get(d.b[m][(size_t)o * c.rank + n]);
            sums.push_back(sum);
        }
    return sums;
}

static bool check(const Case& c) {
    Data before = data(c), d = before, again = before;
    bool holds = true;
    auto squares = run(c, d, false, holds), same = run(c, again, true, holds);
    holds = holds && d.y == again.y && !memcmp(d.wide.data(), again.wide.data(), d.wide.size() * 4);
    double worst = 0, bound = c.mode == STEP_HEAD ? 1e-4 : c.adapted ? 2e-2 : 1e-2;
    for (int row = 0; row < c.rows; row++) {
        auto sums = wanted(c, d, row);
        double square = 0;
        for (int o = 0; o < columns(c); o++) {
            size_t at = (size_t)row * columns(c) + o;
            double want = sums[o], found = c.mode == STEP_HEAD ? d.wide[at] : get(d.y[at]), size = 1;
            if (c.mode == STEP_ADD) want += get(before.y[at]);
            if (c.mode == STEP_GATE) {
                double gate = sums[o], up = sums[c.outputs[0] + o];
                want = gate / (1 + exp(-gate)) * up;
                size = 0.3 + fabs(gate) + fabs(up);  // an error of one is as large as the other
            }
            square += found * found;
            double error = fabs(found - want) / (fabs(want) + size);
            if (!(error <= worst)) worst = error;
        }
        if (c.mode == STEP_ADD) holds = holds && fabs(squares[row] / square - 1) < 1e-5 && squares[row] == same[row];
    }
    holds = holds && worst <= bound;
    printf("%s mode %d, %d rows, %d inputs, outputs %d %d %d, rank %d of %d, norm %d, groups %d, across %d, splits %d, phase %d: %.1e\n",
           holds ? "  " : "!!", c.mode, c.rows, c.inputs, c.outputs[0], c.outputs[1], c.outputs[2], c.rank, c.adapted,
           c.normed, c.groups, c.across, c.splits, c.phase, worst);
    return holds;
}

int main() {
    const int rows[] = {1, 3, 8, 12, 16, 31, 64};
    int failed = 0;
    for (int mode = 0; mode < 4; mode++) {
        bool store = mode == STEP_STORE, gate = mode == STEP_GATE, head = mode == STEP_HEAD;
        for (int n = 0; n < 30; n++) {
            Case c = {mode, rows[below(7)], (int)(8 * (1 + below(60)))};
            c.outputs[0] = head ? 50 + below(300) : 8 * (1 + below(30));
            c.outputs[1] = store ? 8 * (1 + below(12)) : 0;
            c.outputs[2] = store ? 8 * (1 + below(12)) : 0;
            c.rank = 8 * (1 + below(5));
            c.adapted = head || below(3) == 0 ? 0 : store ? below(8) : gate ? below(4) : 1;
            c.normed = below(2);
            c.groups = gate ? 1 + below(4) : 1 << below(3);
            c.across = 1 << below(3);
            while ((c.groups + 3) * c.across > 16) c.across /= 2;
            c.splits = head ? 1 : 1 + below(4);
            c.phase = 1 + below(24);
            c.blocks = 1 + below(5);
            failed += !check(c);
        }
    }
    // As a small model has them.
    failed += !check({STEP_STORE, 64, 896, {128, 64, 64}, 16, 7, true, 1, 4, 4, 16, 0});
    failed += !check({STEP_ADD, 64, 4864, {64, 0, 0}, 16, 1, false, 1, 8, 5, 16, 0});
    failed += !check({STEP_GATE, 64, 896, {192, 0, 0}, 16, 3, true, 3, 2, 1, 16, 0});
    failed += !check({STEP_HEAD, 64, 896, {1000, 0, 0}, 0, 0, true, 4, 4, 1, 28, 3});
    printf("%d failed\n", failed);
    return failed != 0;
}
