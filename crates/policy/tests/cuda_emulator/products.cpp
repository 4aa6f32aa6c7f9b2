// The products of decode_product.cu against sums in double, over random shapes: rows, slices, warps, adapters.
// Every product runs twice, once with blocks and threads in the opposite order, and must give the same bits.
// products.sh builds and runs it.
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

typedef decltype(&step_store_16) Kernel;
static Kernel kernels[3][3] = {{step_store_16, step_store_32, step_store_64},
                               {step_add_16, step_add_32, step_add_64},
                               {step_gate_16, step_gate_32, step_gate_64}};

struct Case {
    int mode, rows, inputs, outputs[3], rank, adapted;  // `adapted`: a bit for each module
    bool normed;
    int groups, across, splits;
};

struct Data {
    std::vector<real> x, norm, w, a, b[3], y, copy;
    std::vector<float> squares;
};

// Rows as they lie in memory once woven, or back again.
static std::vector<real> rewoven(const std::vector<real>& rows, int width, bool back) {
    std::vector<real> out(rows);
    for (size_t n = 0; n < rows.size() / width * width; n++) {
        size_t at = n / width * width + woven(n % width);
        back ? out[n] = rows[at] : out[at] = rows[n];
    }
    return out;
}

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
    d.copy.assign(d.y.size(), 0);
    d.squares.resize(c.rows * PARTS);
    for (int row = 0; row < c.rows; row++) {
        float square = 0;
        for (int k = 0; k < c.inputs; k++) square += get(d.x[row * c.inputs + k]) * get(d.x[row * c.inputs + k]);
        for (int n = 0; n < PARTS; n++) d.squares[row * PARTS + n] = square / PARTS;
    }
    return d;
}

// Runs the kernel; the squares it leaves, or nothing where the shape has no room.
static std::vector<float> run(Case c, Data& d, bool backwards) {
    int log = c.rows <= 16 ? 0 : c.rows <= 32 ? 1 : 2, pad = 16 << log, depth = pad == 64 ? STEP_DEPTH_FULL : STEP_DEPTH;
    int wide = c.groups * 32, chunks = c.inputs / 32, per = (chunks + c.splits - 1) / c.splits;
    int splits = (chunks + per - 1) / per, turn = c.across * depth, tiles = 0, parts = PARTS;
    int part = ((per + STEP_PARTS - 1) / STEP_PARTS + turn - 1) / turn * turn;
    for (int m = 0; m < (c.mode == STEP_GATE ? 1 : 3); m++) {
        int each = c.mode == STEP_GATE ? wide / 2 : wide;
        tiles += (c.outputs[m] + each - 1) / each;
    }
    int adapted = __builtin_popcount(c.adapted), low = adapted ? (c.mode == STEP_GATE ? adapted : 1) * c.rank : 0;
    int lows = (low + 31) / 32;
    std::vector<float> squares_out(c.rows * tiles, NAN);
    std::vector<real> rows = rewoven(d.x, c.inputs, false);
    const real *x = rows.data(), *norm = c.normed ? d.norm.data() : 0, *w = d.w.data(), *a = d.a.data(), *b[3];
    for (int m = 0; m < 3; m++) b[m] = c.adapted >> m & 1 ? d.b[m].data() : 0;
    const float* squares = d.squares.data();
    real *y = d.y.data(), *copy = d.copy.data();
    float *left = squares_out.data(), eps = EPS, scale = SCALE;
    void* arguments[] = {&x, &norm, &squares, &w, &a, &b[0], &b[1], &b[2], &y, &copy, &left, &parts, &c.rows,
                         &c.inputs, &c.outputs[0], &c.outputs[1], &c.outputs[2], &c.rank, &tiles, &c.groups,
                         &lows, &c.across, &per, &part, &eps, &scale};
    size_t each = c.across * step_sum_pitch(c.groups + lows) * 4 + (lows ? step_pitch(lows) * 2 : 0);
    unsigned threads = (c.groups + lows) * c.across * 32;
    emu_backwards = backwards;
    EmuLaunch launch = {{(unsigned)tiles, (unsigned)splits, 1}, {threads, 1, 1}, max(pad * each, (size_t)pad * step_pitch(per) * 2 + per * 64), (unsigned)splits};
    emu_prepare(kernels[c.mode][log], arguments, launch)();
    if (c.mode == STEP_GATE) d.y = rewoven(d.y, columns(c), true);
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
    auto squares = run(c, d, false), same = run(c, again, true);
    holds = holds && d.y == again.y && d.copy == again.copy;
    double worst = 0, bound = c.adapted ? 2e-2 : 1e-2;
    auto copy = rewoven(d.copy, columns(c), true);
    for (int row = 0; row < c.rows; row++) {
        auto sums = wanted(c, d, row);
        double square = 0;
        for (int o = 0; o < columns(c); o++) {
            size_t at = (size_t)row * columns(c) + o;
            double want = sums[o], found = get(d.y[at]), size = 1;
            if (c.mode == STEP_ADD) {
                want += get(before.y[at]);
                holds = holds && copy[at] == d.y[at];
            }
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
    printf("%s mode %d, %d rows, %d inputs, outputs %d %d %d, rank %d of %d, norm %d, groups %d, across %d, splits %d: %.1e\n",
           holds ? "  " : "!!", c.mode, c.rows, c.inputs, c.outputs[0], c.outputs[1], c.outputs[2], c.rank, c.adapted,
           c.normed, c.groups, c.across, c.splits, worst);
    return holds;
}

int main() {
    const int rows[] = {1, 3, 8, 12, 16, 31, 64};
    int failed = 0;
    for (int mode = 0; mode < 3; mode++) {
        bool store = mode == STEP_STORE, gate = mode == STEP_GATE;
        for (int n = 0; n < 40; n++) {
            Case c = {mode, rows[below(7)], (int)(32 * (1 + below(20)))};
            c.outputs[0] = store ? 8 * (1 + below(30)) : 32 * (1 + below(8));
            c.outputs[1] = store ? 8 * (1 + below(12)) : 0;
            c.outputs[2] = store ? 8 * (1 + below(12)) : 0;
            c.rank = 8 * (1 + below(5));
            c.adapted = below(3) == 0 ? 0 : store ? below(8) : gate ? below(4) : 1;
            c.normed = mode != STEP_ADD && below(2);
            c.groups = gate ? 1 + below(4) : 1 << below(3);
            c.across = 1 << below(4);
            while ((c.groups + 3) * c.across > 16) c.across /= 2;
            c.splits = 1 + below(8);
            failed += !check(c);
        }
    }
    // As a small model has them.
    failed += !check({STEP_STORE, 64, 896, {128, 64, 64}, 16, 7, true, 1, 4, 4});
    failed += !check({STEP_ADD, 64, 4864, {64, 0, 0}, 16, 1, false, 1, 8, 5});
    failed += !check({STEP_GATE, 64, 896, {192, 0, 0}, 16, 3, true, 3, 2, 1});
    printf("%d failed\n", failed);
    return failed != 0;
}
