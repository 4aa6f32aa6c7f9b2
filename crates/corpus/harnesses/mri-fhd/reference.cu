// A sum of waves at every voxel. The scale is the sum of their amplitudes.

#include <cuda_runtime.h>

__global__ void reference_waves(const float *phi_r, const float *phi_i, const float *d_r, const float *d_i, const float *k, const float *x, double *out_r, double *out_r_scale, double *out_i, double *out_i_scale, int samples, int voxels) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    double real = 0.0, imaginary = 0.0, scale = 0.0;
    for (int s = 0; s < samples; s++) {
        const double a = (double)phi_r[s] * d_r[s] + (double)phi_i[s] * d_i[s];
        const double b = (double)phi_r[s] * d_i[s] - (double)phi_i[s] * d_r[s];
        double phase = 0.0;
        for (int axis = 0; axis < 3; axis++) phase += (double)k[axis * samples + s] * x[axis * voxels + at];
        const double c = cos(6.283185307179586 * phase), d = sin(6.283185307179586 * phase);
        real += a * c - b * d;
        imaginary += b * c + a * d;
        scale += fabs((double)phi_r[s] * d_r[s]) + fabs((double)phi_i[s] * d_i[s]) + fabs((double)phi_r[s] * d_i[s]) + fabs((double)phi_i[s] * d_r[s]);
    }
    out_r[at] = real;
    out_i[at] = imaginary;
    out_r_scale[at] = out_i_scale[at] = scale + 1e-30;
}

extern "C" void reference(const float *phi_r, const float *phi_i, const float *d_r, const float *d_i, const float *k, const float *x, double *out_r, double *out_r_scale, double *out_i, double *out_i_scale, int samples, int voxels) {
    reference_waves<<<voxels / 256, 256>>>(phi_r, phi_i, d_r, d_i, k, x, out_r, out_r_scale, out_i, out_i_scale, samples, voxels);
}
