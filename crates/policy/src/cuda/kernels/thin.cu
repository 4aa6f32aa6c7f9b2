// y += alpha a b for a short inner dimension, such as an adapter's rank (bf16 only).
//
// Such a product is bound by reading and writing y. So a lane holds eight neighbouring values of y: of four fragments B
// the column n of the jth is taken from column n / 2 * 8 + j * 2 + n % 2 of 32, and what a lane gets of the four lies
// side by side. Each of 4 warps owns 64 columns, keeps their B, and walks `span` rows; lengths end at a multiple of 8.
// Grid (columns / 256, rows / span), 128 threads.
#ifndef HOTLOOP_F32

struct Thin {
    const real *a, *b;
    real* y;
    int a_stride, b_stride, y_stride, rows, columns, length, span, transposed;
    float alpha;
};

// Rows l and l + 1 of a column of b, which lies in rows or, transposed, in columns.
__device__ inline u32 thin_b(const Thin& p, int l, int column) {
    if (l >= p.length || column >= p.columns) return 0;
    if (p.transposed) return *(const u32*)(p.b + (i64)column * p.b_stride + l);
    const real* at = p.b + (i64)l * p.b_stride + column;
    return (u32)at[0] | (u32)at[p.b_stride] << 16;
}

__device__ inline u32 thin_a(const Thin& p, int row, int l) {
    return row < p.rows && l < p.length ? *(const u32*)(p.a + (i64)row * p.a_stride + l) : 0;
}

__device__ inline u32 thin_add(u32 old, float low, float high, float alpha) {
    return pack2(__uint_as_float(old << 16) + alpha * low, __uint_as_float(old & 0xffff0000u) + alpha * high);
}

template <int STEPS> __device__ inline void thin_product(const Thin& p) {
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3, column = (blockIdx.x * 4 + threadIdx.x / 32) * 64;
    u32 b[2][4][STEPS][2];
#pragma unroll
    for (int n = 0; n < 8 * STEPS; n++) {
        int half = n / (4 * STEPS), j = n / STEPS % 4, k = n % STEPS;
        int at = column + half * 32 + g / 2 * 8 + j * 2 + g % 2;
        b[half][j][k][0] = thin_b(p, k * 16 + 2 * t, at);
        b[half][j][k][1] = thin_b(p, k * 16 + 2 * t + 8, at);
    }
    int begin = blockIdx.y * p.span, end = min(begin + p.span, p.rows);
    for (int row = begin; row < end; row += 16) {
        uint4 old[2][2];
        real* at = p.y + (i64)(row + g) * p.y_stride + column + t * 8;
        bool here[2][2];
#pragma unroll
        for (int n = 0; n < 4; n++) {
            int half = n / 2, r = n % 2;
            here[half][r] = row + g + r * 8 < end && column + half * 32 + t * 8 < p.columns;
            if (here[half][r]) old[half][r] = *(const uint4*)(at + (i64)r * 8 * p.y_stride + half * 32);
        }
        float c[2][4][4] = {};
#pragma unroll
        for (int k = 0; k < STEPS; k++) {
            int l = k * 16 + 2 * t;
            u32 a[4] = {thin_a(p, row + g, l), thin_a(p, row + g + 8, l), thin_a(p, row + g, l + 8),
                        thin_a(p, row + g + 8, l + 8)};
#pragma unroll
            for (int n = 0; n < 8; n++) mma(c[n / 4][n % 4], a, b[n / 4][n % 4][k]);
        }
#pragma unroll
        for (int n = 0; n < 4; n++) {
            int half = n / 2, r = n % 2;
            if (!here[half][r]) continue;
            uint4 v = old[half][r];
            v.x = thin_add(v.x, c[half][0][2 * r], c[half][0][2 * r + 1], p.alpha);
            v.y = thin_add(v.y, c[half][1][2 * r], c[half][1][2 * r + 1], p.alpha);
            v.z = thin_add(v.z, c[half][2][2 * r], c[half][2][2 * r + 1], p.alpha);
            v.w = thin_add(v.w, c[half][3][2 * r], c[half][3][2 * r + 1], p.alpha);
            *(uint4*)(at + (i64)r * 8 * p.y_stride + half * 32) = v;
        }
    }
}

// For lengths of at most so many values.
#define THIN(LENGTH)                                                                                                  \
    extern "C" __global__ void __launch_bounds__(128)                                                                 \
        thin_product_##LENGTH(const real* a, const real* b, real* y, int a_stride, int b_stride, int y_stride,        \
                              int rows, int columns, int length, int span, int transposed, float alpha) {             \
        Thin p = {a, b, y, a_stride, b_stride, y_stride, rows, columns, length, span, transposed, alpha};             \
        thin_product<LENGTH / 16>(p);                                                                                 \
    }
THIN(16)
THIN(32)
THIN(64)
#endif
