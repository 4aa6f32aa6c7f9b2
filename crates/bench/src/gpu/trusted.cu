// The examiner's own kernels. Inputs are a function of a secret key, so that a check can always tell
// whether memory still holds what was drawn.

typedef unsigned int u32;
typedef unsigned long long u64;

// As `Kind` and `Shape` in trusted.rs are numbered.
enum { F64, F32, F16, BF16, I32, I64, U8, I8, I16 };
enum { UNIFORM, FREQUENT, TINY, EXTREMES, TIES, UNEVEN, RARE };

#define EACH(i, n) \
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (u64)gridDim.x * blockDim.x

// --- numbers drawn from a key and a counter (Philox 4x32, ten rounds) ---

struct Words {
    u32 at[4];
};

__device__ Words philox(u64 counter, u64 key) {
    u32 a = (u32)counter, b = (u32)(counter >> 32), c = 0x243F6A88u, d = 0x85A308D3u;
    u32 low = (u32)key, high = (u32)(key >> 32);
    for (int round = 0; round < 10; round++) {
        const u64 first = (u64)0xD2511F53u * a, second = (u64)0xCD9E8D57u * c;
        a = (u32)(second >> 32) ^ b ^ low;
        b = (u32)second;
        c = (u32)(first >> 32) ^ d ^ high;
        d = (u32)first;
        low += 0x9E3779B9u;
        high += 0xBB67AE85u;
    }
    return Words{{a, b, c, d}};
}

union Float {
    float value;
    u32 bits;
};

union Double {
    double value;
    u64 bits;
};

__device__ u32 half_bits(float value) {
    Float f = {value};
    const u32 sign = f.bits >> 16 & 0x8000u;
    f.bits &= 0x7fffffffu;
    if (f.bits >= 0x47800000u) return sign | 0x7c00u;
    if (f.bits < 0x38800000u) return sign | (u32)rintf(f.value * 16777216.0f);
    f.bits += 0xfffu + (f.bits >> 13 & 1u);
    return sign | (f.bits - 0x38000000u) >> 13;
}

__device__ u32 bfloat_bits(float value) {
    Float f = {value};
    return (f.bits + 0x7fffu + (f.bits >> 16 & 1u)) >> 16;
}

__device__ float half_value(u32 bits) {
    const u32 exponent = bits >> 10 & 31u, fraction = bits & 1023u;
    Float f;
    if (exponent == 31u) f.bits = 0x7f800000u | fraction << 13;
    else if (exponent == 0u) f.value = (float)fraction * 5.9604644775390625e-8f;
    else f.bits = (exponent + 112u) << 23 | fraction << 13;
    f.bits |= (bits & 0x8000u) << 16;
    return f.value;
}

__device__ float bfloat_value(u32 bits) {
    Float f;
    f.bits = bits << 16;
    return f.value;
}

// The bits of number `k` among those of one counter, uniform in [low, high). Types of eight bytes take
// two numbers from a counter, the others four.
__device__ u64 drawn(int kind, const Words &words, int k, double low, double high) {
    if (kind == F64 || kind == I64) {
        const u64 random = (u64)words.at[2 * k] << 32 | words.at[2 * k + 1];
        if (kind == I64) return (u64)((long long)low + (long long)__umul64hi(random, (u64)(high - low)));
        Double value = {(double)(random >> 11) * 1.1102230246251565e-16 * (high - low) + low};
        if (!(value.value < high)) value.value = low;
        return value.bits;
    }
    if (kind == I32) return (u32)((long long)low + (long long)((u64)words.at[k] * (u64)(high - low) >> 32));
    const float unit = (float)(words.at[k] >> 8) * 5.9604644775390625e-8f;
    Float value = {fmaf(unit, (float)(high - low), (float)low)};
    if (kind == F32) {
        if (!(value.value < (float)high)) value.value = (float)low;
        return value.bits;
    }
    u32 bits = kind == F16 ? half_bits(value.value) : bfloat_bits(value.value);
    const float rounded = kind == F16 ? half_value(bits) : bfloat_value(bits);
    if (!(rounded < (float)high)) bits = kind == F16 ? half_bits((float)low) : bfloat_bits((float)low);
    return bits;
}

__device__ int numbers_of(int kind) { return kind == F64 || kind == I64 ? 2 : 4; }

// The bits of a number on a grid of sixteen in [low, high).
__device__ u64 on_grid(int kind, u32 step, double low, double high) {
    const double value = low + (high - low) * 0.0625 * (double)step;
    if (kind == I32) return (u32)(int)floor(value);
    if (kind == I64) return (u64)(long long)floor(value);
    if (kind == F64) {
        Double bits = {value};
        return bits.bits;
    }
    Float bits = {(float)value};
    return kind == F32 ? bits.bits : kind == F16 ? half_bits(bits.value) : bfloat_bits(bits.value);
}

// Lines of an input: numbers at the same place of one dimension, which has a stride and a length.
struct Lines {
    u64 stride, length;
};

// Of two dimensions, and the bits that places have.
struct Places {
    Lines first, second;
    u64 mask;
};

__device__ Places places_of(u64 n, const Lines &first, const Lines &second) {
    u64 mask = n > 0 ? n - 1 : 0;
    for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
    return Places{first, second, mask};
}

// One line of a dimension is rare, and about one more in a thousand.
__device__ bool is_rare(u64 at, const Lines &lines, u64 key) {
    if (lines.length < 2) return false;
    const u64 line = at / lines.stride % lines.length;
    const u64 mixed = (line * 0x9E3779B97F4A7C15ull ^ key) * 0xD1342543DE82EF95ull;
    return line == (key >> 8) % lines.length || mixed >> 54 == 0;
}

// By how many halvings the number at a place is nearer to the middle of its range than a uniform one.
__device__ int halvings(int shape, u64 at, const Places &places, u64 key) {
    if (shape == UNEVEN) return __popc((u32)((at ^ key) & places.mask));
    return is_rare(at, places.first, key) || is_rare(at, places.second, key >> 16) ? 12 : 0;
}

// The range of numbers that are nearer to its middle. All of them lie in the range that a task promises.
__device__ void draw_near(int count, double &low, double &high) {
    const double middle = low + (high - low) * 0.5, reach = (high - low) * 0.5 / (double)(1ull << count);
    low = middle - reach;
    high = middle + reach;
}

// The bits of number `k` among those of one counter, in a shape. It lies at the place `at`.
__device__ u64 shaped(int shape, int kind, const Words &words, int k, u64 at, const Places &places, u64 key, double low, double high) {
    if ((shape == UNEVEN || shape == RARE) && kind < I32) draw_near(halvings(shape, at, places, key), low, high);
    if (shape == UNIFORM || shape == UNEVEN || shape == RARE) return drawn(kind, words, k, low, high);
    // Products of two are still far from where floats lose digits.
    const double tiny = 9.094947017729282e-13;
    const bool is_wide = kind == F64 || kind == F32 || kind == BF16;
    if (shape == TINY && is_wide && low <= 0.0 && high > 0.0) return drawn(kind, words, k, low * tiny, high * tiny);
    const u32 random = words.at[numbers_of(kind) == 2 ? 2 * k : k];
    u32 step = random >> 28;
    if (shape == EXTREMES) step = random >> 31 ? 15u : 0u;
    if (shape == FREQUENT && (random & 1u)) {
        step = 1u + (u32)(key >> 40) % 3u;
        if (random & 2u) step = 16u - step;
    }
    return on_grid(kind, step, low, high);
}

extern "C" __global__ void hl_draw(int shape, int kind, void *to, u64 n, u64 key, double low, double high, u64 stride, u64 length, u64 other_stride, u64 other_length) {
    const Places places = places_of(n, Lines{stride, length}, Lines{other_stride, other_length});
    const int each = numbers_of(kind);
    for (EACH(i, (n + each - 1) / each)) {
        const Words words = philox(i, key);
        if (kind == F32 && 4 * i + 3 < n) {
            Float f[4];
            for (int k = 0; k < 4; k++) f[k].bits = (u32)shaped(shape, F32, words, k, 4 * i + k, places, key, low, high);
            ((float4 *)to)[i] = make_float4(f[0].value, f[1].value, f[2].value, f[3].value);
            continue;
        }
        for (int k = 0; k < each && each * i + k < n; k++) {
            const u64 bits = shaped(shape, kind, words, k, each * i + k, places, key, low, high);
            if (each == 2) ((u64 *)to)[2 * i + k] = bits;
            else if (kind == F32 || kind == I32) ((u32 *)to)[4 * i + k] = (u32)bits;
            else ((unsigned short *)to)[4 * i + k] = (unsigned short)bits;
        }
    }
}

// `changed` becomes 1 where memory no longer holds what `hl_draw` drew.
extern "C" __global__ void hl_same(int shape, int kind, const void *from, u64 n, u64 key, double low, double high, u64 stride, u64 length, u64 other_stride, u64 other_length, u64 *changed) {
    const Places places = places_of(n, Lines{stride, length}, Lines{other_stride, other_length});
    const int each = numbers_of(kind);
    bool differs = false;
    for (EACH(i, (n + each - 1) / each)) {
        const Words words = philox(i, key);
        for (int k = 0; k < each && each * i + k < n; k++) {
            const u64 bits = shaped(shape, kind, words, k, each * i + k, places, key, low, high);
            if (each == 2) differs |= ((const u64 *)from)[2 * i + k] != bits;
            else if (kind == F32 || kind == I32) differs |= ((const u32 *)from)[4 * i + k] != (u32)bits;
            else differs |= ((const unsigned short *)from)[4 * i + k] != (unsigned short)bits;
        }
    }
    if (differs) *changed = 1;
}

// `changed` becomes 1 where two memories differ.
extern "C" __global__ void hl_equal(const unsigned char *a, const unsigned char *b, u64 bytes, u64 *changed) {
    bool differs = false;
    for (EACH(i, bytes)) differs |= a[i] != b[i];
    if (differs) *changed = 1;
}

// Signs at random, for projections.
extern "C" __global__ void hl_signs(double *to, u64 n, u64 key) {
    for (EACH(i, n)) to[i] = philox(i, key).at[0] & 1u ? 1.0 : -1.0;
}

// --- sparse matrices in compressed rows ---

__device__ u64 below(u32 high, u32 low, u64 count) { return __umul64hi((u64)high << 32 | low, count); }

// Each entry goes to a row at random; `counts` begin as zeros. If `heavy` is not 0, half of the entries go
// to about as many rows, which lie anywhere.
extern "C" __global__ void hl_count_rows(u32 *counts, u64 rows, u64 entries, u64 key, u64 heavy) {
    for (EACH(i, entries)) {
        const Words words = philox(i, key);
        u64 row = below(words.at[0], words.at[1], rows);
        if (heavy && words.at[2] >> 31) {
            const Words place = philox(words.at[3] % heavy, ~key);
            row = below(place.at[0], place.at[1], rows);
        }
        atomicAdd(&counts[row], 1u);
    }
}

// Counts of rows become where rows begin, and behind the last one where it ends. One block.
extern "C" __global__ void hl_begin_rows(u32 *rows_at, u64 rows) {
    __shared__ u32 parts[256];
    u32 before = 0;
    for (u64 first = 0; first <= rows; first += 256) {
        const u64 i = first + threadIdx.x;
        const u32 own = i < rows ? rows_at[i] : 0;
        parts[threadIdx.x] = own;
        __syncthreads();
        for (int step = 1; step < 256; step *= 2) {
            const u32 more = threadIdx.x >= step ? parts[threadIdx.x - step] : 0;
            __syncthreads();
            parts[threadIdx.x] += more;
            __syncthreads();
        }
        if (i <= rows) rows_at[i] = before + parts[threadIdx.x] - own;
        before += parts[255];
        __syncthreads();
    }
}

// Ascending columns in each row: one in each of as many equal parts as the row has entries. They are
// distinct as long as the row has room. If `crowded` is not 0, all columns of a row lie near each other.
extern "C" __global__ void hl_columns(u32 *to, const u32 *rows_at, u64 rows, u64 columns, u64 key, u64 crowded) {
    for (EACH(row, rows)) {
        const u64 begin = rows_at[row], count = rows_at[row + 1] - begin;
        u64 width = columns, first = 0;
        if (crowded && 2 * count < columns) {
            const Words place = philox(row, ~key);
            width = 2 * count;
            first = below(place.at[0], place.at[1], columns - width + 1);
        }
        for (u64 j = 0; j < count; j++) {
            const u64 low = width * j / count, high = width * (j + 1) / count;
            const Words words = philox(begin + j, key);
            to[begin + j] = (u32)(first + low + below(words.at[0], words.at[1], high - low));
        }
    }
}

// --- patterns ---

// Repeats a pattern of eight bytes; `to` is a multiple of eight.
extern "C" __global__ void hl_fill(void *to, u64 bytes, u64 pattern) {
    for (EACH(i, bytes / 8)) ((u64 *)to)[i] = pattern;
    if (blockIdx.x == 0 && threadIdx.x < bytes % 8) {
        const u64 at = bytes / 8 * 8 + threadIdx.x;
        ((unsigned char *)to)[at] = (unsigned char)(pattern >> 8 * (at % 8));
    }
}

__device__ unsigned char byte_of(u64 pattern, u64 at) { return (unsigned char)(pattern >> 8 * (at % 8)); }

// Fills what lies in [0, from) and [to, bytes) of a slot.
extern "C" __global__ void hl_guard(unsigned char *slot, u64 from, u64 to, u64 bytes, u64 pattern) {
    for (EACH(i, from + bytes - to)) {
        const u64 at = i < from ? i : i - from + to;
        slot[at] = byte_of(pattern, at);
    }
}

// `broken` becomes 1 where a slot's guards no longer hold the pattern.
extern "C" __global__ void hl_intact(const unsigned char *slot, u64 from, u64 to, u64 bytes, u64 pattern, u64 *broken) {
    bool differs = false;
    for (EACH(i, from + bytes - to)) {
        const u64 at = i < from ? i : i - from + to;
        differs |= slot[at] != byte_of(pattern, at);
    }
    if (differs) *broken = 1;
}

// The same for a long range, eight bytes at a time.
extern "C" __global__ void hl_filled(const u64 *from, u64 words, u64 pattern, u64 *broken) {
    bool differs = false;
    for (EACH(i, words)) differs |= from[i] != pattern;
    if (differs) *broken = 1;
}

// Pushes everything else out of the L2 cache.
extern "C" __global__ void hl_sweep(float4 *to, u64 n, float value) {
    for (EACH(i, n)) to[i] = make_float4(value, value, value, value);
}

// Has every multiprocessor read a word of each page, so that it knows where the page lies. `to` takes what is never read.
extern "C" __global__ void hl_touch(const u32 *from, u64 bytes, u64 page, u32 *to) {
    u32 seen = 0;
    for (u64 at = threadIdx.x * page; at + 4 <= bytes; at += blockDim.x * page) seen ^= from[at / 4];
    if (seen == 0x5bd1e995) *to = seen;
}

// --- comparisons ---

// What a comparison found: the largest error as a float, above the index where it is, counted down;
// whether the reference is no number; how many numbers were compared.
struct Found {
    u64 worst, broken, compared;
};

// A float no less than `value`, which is not negative; NaN counts as infinite.
__device__ u32 rounded_up(double value) {
    if (!(value <= 3.4028234663852886e38)) return 0x7f800000u;
    Float f = {(float)value};
    if ((double)f.value < value) f.bits++;
    return f.bits;
}

// The error of one number in units of its scale; scale 0 demands equality.
__device__ double error_of(double off, double scale) { return off == 0.0 ? 0.0 : off / scale; }

__device__ u64 worse(u64 a, u64 b) { return a > b ? a : b; }

__device__ void note(Found *found, u64 worst, u64 compared, bool broken) {
    for (int half = 16; half > 0; half /= 2) {
        worst = worse(worst, __shfl_xor_sync(0xffffffffu, worst, half));
        compared += __shfl_xor_sync(0xffffffffu, compared, half);
    }
    if (threadIdx.x % 32 == 0) {
        if (worst >> 32) atomicMax(&found->worst, worst);
        if (compared) atomicAdd(&found->compared, compared);
    }
    if (broken) found->broken = 1;
}

__device__ u64 placed(double error, u64 at) { return (u64)rounded_up(error) << 32 | (0xffffffffu - (u32)(at < 0xffffffffu ? at : 0xffffffffu)); }

__device__ bool is_number(double value) { return value - value == 0.0; }

__device__ double off_by(int kind, const void *got, u64 i, double want) {
    if (kind >= I32) {
        long long value;
        if (kind == I32) value = ((const int *)got)[i];
        else if (kind == I64) value = ((const long long *)got)[i];
        else if (kind == U8) value = ((const unsigned char *)got)[i];
        else if (kind == I8) value = ((const signed char *)got)[i];
        else value = ((const short *)got)[i];
        const double off = fabs((double)value - want);
        return off > 0.0 || value == (long long)want ? off : 1.0;
    }
    double value;
    if (kind == F64) value = ((const double *)got)[i];
    else if (kind == F32) value = (double)((const float *)got)[i];
    else if (kind == F16) value = (double)half_value(((const unsigned short *)got)[i]);
    else value = (double)bfloat_value(((const unsigned short *)got)[i]);
    return fabs(value - want);
}

// Every element of an output against the reference's value and scale.
extern "C" __global__ void hl_compare(int kind, const void *got, const double *want, const double *scale, u64 n, Found *found) {
    u64 worst = 0, compared = 0;
    bool broken = false;
    for (EACH(i, n)) {
        broken |= !is_number(want[i]) || !(scale[i] >= 0.0);
        worst = worse(worst, placed(error_of(off_by(kind, got, i, want[i]), scale[i]), i));
        compared++;
    }
    note(found, worst, compared, broken);
}

// The same for an output whose elements lie apart: `layout` holds its lengths and then its strides, in
// elements. The scale of an element is the size of what is right, times `relative`, and `usual`.
extern "C" __global__ void hl_compare_apart(int kind, const void *got, const u64 *layout, int dimensions, const double *want, double relative, double usual, u64 n, Found *found) {
    u64 worst = 0, compared = 0;
    bool broken = false;
    for (EACH(i, n)) {
        u64 rest = i, at = 0;
        for (int d = dimensions - 1; d >= 0; d--) {
            at += rest % layout[d] * layout[dimensions + d];
            rest /= layout[d];
        }
        const double scale = relative * fabs(want[i]) + usual;
        broken |= !is_number(want[i]) || !(scale >= 0.0);
        worst = worse(worst, placed(error_of(off_by(kind, got, at, want[i]), scale), i));
        compared++;
    }
    note(found, worst, compared, broken);
}

// --- the roof ---

extern "C" __global__ void hl_nothing() {}

extern "C" __global__ void hl_copy(float4 *to, const float4 *from, u64 n) {
    for (EACH(i, n)) to[i] = from[i];
}

// 16 * rounds operations a thread, in eight independent chains.
extern "C" __global__ void hl_multiply_add(float *to, int rounds, float a, float b) {
    float x[8];
    for (int k = 0; k < 8; k++) x[k] = (float)(threadIdx.x + k);
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int k = 0; k < 8; k++) x[k] = fmaf(x[k], a, b);
    }
    float sum = 0.0f;
    for (int k = 0; k < 8; k++) sum += x[k];
    if (sum == 12345.678f) to[0] = sum;
}
