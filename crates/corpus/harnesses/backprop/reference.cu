// A layer of sixteen neurons and a bias: the sums of sixteen inputs each, and the new weights. The
// scale is the sum of the terms' magnitudes. Column 0 of the weights stays as it is.

#include <cuda_runtime.h>

__global__ void reference_sums(const float *input, const float *weights, double *sums, double *scale) {
    double sum = 0.0, magnitude = 1e-30;
    for (int row = 1; row <= 16; row++) {
        const long long i = 16LL * blockIdx.x + row;
        const double term = (double)input[i] * weights[17 * i + threadIdx.x + 1];
        sum += term;
        magnitude += fabs(term);
    }
    sums[16LL * blockIdx.x + threadIdx.x] = sum;
    scale[16LL * blockIdx.x + threadIdx.x] = magnitude;
}

__global__ void reference_weights(const float *input, const float *weights, const float *before, const float *delta, double *updated, double *updated_scale, double *change, double *change_scale, long long n) {
    const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (at >= n) return;
    const long long i = at / 17, j = at % 17;
    const double step = 0.3 * delta[j] * (i == 0 ? 1.0 : input[i]), momentum = 0.3 * before[at];
    updated[at] = weights[at] + (j == 0 ? 0.0 : step + momentum);
    change[at] = j == 0 ? before[at] : step + momentum;
    change_scale[at] = fabs(step) + fabs((double)before[at]) + 1e-30;
    updated_scale[at] = fabs((double)weights[at]) + change_scale[at];
}

extern "C" void reference(const float *input, const float *weights, const float *before, const float *delta, double *sums, double *sums_scale, double *updated, double *updated_scale, double *change, double *change_scale, int blocks) {
    const long long n = 17 * (16LL * blocks + 1);
    reference_sums<<<blocks, 16>>>(input, weights, sums, sums_scale);
    reference_weights<<<(unsigned)((n + 255) / 256), 256>>>(input, weights, before, delta, updated, updated_scale, change, change_scale, n);
}
