// A convolution with 3 x 3 filters. The scale of an element is the norm of its patch of the image
// times the norm of its filter: honest rounding errors are a small multiple of it in any order.

#include <cuda_runtime.h>

#define THREADS 256

struct Shape {
    long long N, C, H, W, O;
};

// The first element of the patch of output pixel `at` (of N x (H-2) x (W-2)) in channel 0.
__device__ const float *patch(const float *x, Shape s, long long at) {
    const long long j = at % (s.W - 2), i = at / (s.W - 2) % (s.H - 2), n = at / ((s.W - 2) * (s.H - 2));
    return x + (n * s.C * s.H + i) * s.W + j;
}

// Element `at`, output channel `o`, of a result of N x O x (H-2) x (W-2).
__device__ long long place(Shape s, long long at, long long o) {
    const long long pixels = (s.H - 2) * (s.W - 2);
    return (at / pixels * s.O + o) * pixels + at % pixels;
}

__global__ void conv2d_reference(const float *x, const float *w, double *y, double *y_scale, Shape s) {
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x, o = blockIdx.y;
    if (at >= s.N * (s.H - 2) * (s.W - 2)) return;
    const float *from = patch(x, s, at), *filter = w + o * s.C * 9;
    double sum = 0.0, x_squared = 0.0, w_squared = 0.0;
    for (long long c = 0; c < s.C; c++) {
        for (int p = 0; p < 3; p++) {
            for (int q = 0; q < 3; q++) {
                const double value = from[(c * s.H + p) * s.W + q], weight = filter[c * 9 + p * 3 + q];
                sum += value * weight;
                x_squared += value * value;
                w_squared += weight * weight;
            }
        }
    }
    y[place(s, at, o)] = sum;
    y_scale[place(s, at, o)] = sqrt(x_squared * w_squared);
}

static unsigned blocks_of(Shape s) {
    return (unsigned)((s.N * (s.H - 2) * (s.W - 2) + THREADS - 1) / THREADS);
}

extern "C" void reference(const float *x, const float *w, double *y, double *y_scale, int N, int C, int H, int W, int O) {
    const Shape s = {N, C, H, W, O};
    conv2d_reference<<<dim3(blocks_of(s), O), THREADS>>>(x, w, y, y_scale, s);
}

// The filters folded over output channels by the signs, and the sum of squares over these channels.
__global__ void fold_filters(const float *w, const double *signs, double *folded, double *squares, Shape s) {
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (at >= s.C * 9) return;
    double sum = 0.0, squared = 0.0;
    for (long long o = 0; o < s.O; o++) {
        const double weight = w[o * s.C * 9 + at];
        sum += signs[o] * weight;
        squared += weight * weight;
    }
    folded[at] = sum;
    squares[at] = squared;
}

__global__ void compare_pixels(const float *x, const float *y, const double *signs, const double *folded, const double *squares, double *got, double *want, double *scale, Shape s) {
    const long long at = (long long)blockIdx.x * THREADS + threadIdx.x;
    if (at >= s.N * (s.H - 2) * (s.W - 2)) return;
    const float *from = patch(x, s, at);
    double sum = 0.0, x_squared = 0.0, w_squared = 0.0;
    for (long long c = 0; c < s.C; c++) {
        for (int p = 0; p < 3; p++) {
            for (int q = 0; q < 3; q++) {
                const double value = from[(c * s.H + p) * s.W + q];
                sum += value * folded[c * 9 + p * 3 + q];
                x_squared += value * value;
                w_squared += squares[c * 9 + p * 3 + q];
            }
        }
    }
    double answer = 0.0;
    for (long long o = 0; o < s.O; o++) answer += signs[o] * y[place(s, at, o)];
    got[at] = answer;
    want[at] = sum;
    scale[at] = sqrt(x_squared * w_squared);
}

// A convolution is linear in its filters: the output channels added with signs must be the
// convolution with the filters added with the same signs. Every element of y counts.
extern "C" void check(const float *x, const float *w, const float *y, int N, int C, int H, int W, int O, const double *signs, double *got, double *want, double *scale) {
    const Shape s = {N, C, H, W, O};
    double *folded, *squares;
    cudaMalloc(&folded, C * 9 * sizeof(double));
    cudaMalloc(&squares, C * 9 * sizeof(double));
    fold_filters<<<(C * 9 - 1) / THREADS + 1, THREADS>>>(w, signs, folded, squares, s);
    compare_pixels<<<blocks_of(s), THREADS>>>(x, y, signs, folded, squares, got, want, scale, s);
    cudaFree(folded);
    cudaFree(squares);
}
