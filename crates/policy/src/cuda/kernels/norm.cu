// RMS norm: y = x / sqrt(mean(x^2) + eps) * w.
//
// A logical row is `width` values; memory rows of `stride` values hold `heads` of them one after the other, so that
// the same kernels serve the residual stream (heads 1, stride width) and the heads of q and k inside a qkv row.
// One block a logical row (grid.x = rows * heads), a whole number of warps, eight values a thread and turn.
// `width` is a multiple of 8.

__device__ inline i64 norm_place(int heads, i64 stride, int width) {
    return (i64)(blockIdx.x / heads) * stride + (i64)(blockIdx.x % heads) * width;
}

extern "C" __global__ void rms_forward(const real* x, i64 x_stride, const real* w, real* y, i64 y_stride, int width,
                                       int heads, float eps) {
    const real* from = x + norm_place(heads, x_stride, width);
    real* to = y + norm_place(heads, y_stride, width);
    float square = 0.0f;
    for (int i = threadIdx.x * 8; i < width; i += blockDim.x * 8) {
        Eight a = load8(from + i);
#pragma unroll
        for (int j = 0; j < 8; j++) square += a.v[j] * a.v[j];
    }
    float r = 1.0f / sqrtf(block_sum(square) / width + eps);
    for (int i = threadIdx.x * 8; i < width; i += blockDim.x * 8) {
        Eight a = load8(from + i), b = load8(w + i);
#pragma unroll
        for (int j = 0; j < 8; j++) a.v[j] *= r * b.v[j];
        store8(to + i, a);
    }
}

// dx (+)= dy w r - x (dy w . x) r^3 / width; r of each logical row is left in `inverse` for the weight's gradient.
// `dy` and `dx` may be the same memory where nothing is added: a thread reads its values before it writes them.
extern "C" __global__ void rms_backward(const real* x, i64 x_stride, const real* w, const real* dy, real* dx,
                                        i64 d_stride, float* inverse, int width, int heads, float eps, int add) {
    const real* from = x + norm_place(heads, x_stride, width);
    const real* d_out = dy + norm_place(heads, d_stride, width);
    real* to = dx + norm_place(heads, d_stride, width);
    float square = 0.0f, along = 0.0f;
    for (int i = threadIdx.x * 8; i < width; i += blockDim.x * 8) {
        Eight a = load8(from + i), b = load8(w + i), d = load8(d_out + i);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            square += a.v[j] * a.v[j];
            along += a.v[j] * b.v[j] * d.v[j];
        }
    }
    float r = 1.0f / sqrtf(block_sum(square) / width + eps);
    along = block_sum(along) * r * r * r / width;
    if (threadIdx.x == 0) inverse[blockIdx.x] = r;
    for (int i = threadIdx.x * 8; i < width; i += blockDim.x * 8) {
        Eight a = load8(from + i), b = load8(w + i), d = load8(d_out + i), old;
        if (add) old = load8(to + i);
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float value = d.v[j] * b.v[j] * r - a.v[j] * along;
            d.v[j] = add ? old.v[j] + value : value;
        }
        store8(to + i, d);
    }
}

// Partial sums of a norm weight's gradient. Grid (columns / 256, parts), 256 threads: a thread walks one column over
// its part of the logical rows. parts x width floats come out, and `column_finish` adds them up in a fixed order.
extern "C" __global__ void rms_weight_partial(const real* x, i64 x_stride, const real* dy, i64 d_stride,
                                              const float* inverse, float* partial, int rows, int width, int heads) {
    int column = blockIdx.x * 256 + threadIdx.x;
    if (column >= width) return;
    int each = (rows + gridDim.y - 1) / gridDim.y, begin = blockIdx.y * each, end = min(begin + each, rows);
    float sum = 0.0f;
    for (int row = begin; row < end; row++) {
        i64 place = row / heads, head = row % heads;
        sum += get(dy[place * d_stride + head * width + column]) * get(x[place * x_stride + head * width + column]) *
               inverse[row];
    }
    partial[(i64)blockIdx.y * width + column] = sum;
}

// Partial sums of a bias's gradient: the same shape, summing `d` itself.
extern "C" __global__ void column_partial(const real* d, i64 stride, float* partial, int rows, int width) {
    int column = blockIdx.x * 256 + threadIdx.x;
    if (column >= width) return;
    int each = (rows + gridDim.y - 1) / gridDim.y, begin = blockIdx.y * each, end = min(begin + each, rows);
    float sum = 0.0f;
    for (int row = begin; row < end; row++) sum += get(d[(i64)row * stride + column]);
    partial[(i64)blockIdx.y * width + column] = sum;
}

// Adds the partial sums onto a gradient. Grid columns / 256.
extern "C" __global__ void column_finish(const float* partial, float* gradient, int parts, int width) {
    int column = blockIdx.x * 256 + threadIdx.x;
    if (column >= width) return;
    float sum = 0.0f;
    for (int part = 0; part < parts; part++) sum += partial[(i64)part * width + column];
    gradient[column] += sum;
}

// Only r of each logical row, for when the weight's gradient is computed before the input's overwrites dy.
extern "C" __global__ void rms_inverse(const real* x, i64 x_stride, float* inverse, int width, int heads, float eps) {
    const real* from = x + norm_place(heads, x_stride, width);
    float square = 0.0f;
    for (int i = threadIdx.x * 8; i < width; i += blockDim.x * 8) {
        Eight a = load8(from + i);
#pragma unroll
        for (int j = 0; j < 8; j++) square += a.v[j] * a.v[j];
    }
    square = block_sum(square);
    if (threadIdx.x == 0) inverse[blockIdx.x] = 1.0f / sqrtf(square / width + eps);
}
