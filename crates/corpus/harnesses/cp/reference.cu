// The potential at every point of a plane. An atom is x, y, the square of its distance from the
// plane, and its charge. All terms are positive, so the value is the scale.

#include <cuda_runtime.h>

__global__ void reference_potential(const float4 *atoms, double *energy, double *energy_scale, int n) {
    const int at = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    const double x = 0.125 * (blockIdx.x * blockDim.x + threadIdx.x), y = 0.125 * blockIdx.y;
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        const double dx = x - atoms[i].x, dy = y - atoms[i].y;
        sum += atoms[i].w / sqrt(dx * dx + dy * dy + atoms[i].z);
    }
    energy[at] = sum;
    energy_scale[at] = sum;
}

extern "C" void reference(const float *atoms, double *energy, double *energy_scale, int n, int width, int height) {
    reference_potential<<<dim3(width / 128, height), 128>>>((const float4 *)atoms, energy, energy_scale, n);
}
