// The potential and the force on each particle from all of the 27 boxes around it. The scale is the
// sum of the terms' magnitudes.

#include <cuda_runtime.h>

__global__ void reference_forces(const double *positions, const double *charges, double *forces, double *scale, int boxes) {
    const int home = blockIdx.x, z0 = home / (boxes * boxes), y0 = home / boxes % boxes, x0 = home % boxes;
    const double *at = positions + 4 * (100LL * home + threadIdx.x);
    double sums[4] = {0.0, 0.0, 0.0, 0.0}, magnitudes[4] = {1e-300, 1e-300, 1e-300, 1e-300};
    for (int around = 0; around < 27; around++) {
        const int z = z0 + around / 9 - 1, y = y0 + around / 3 % 3 - 1, x = x0 + around % 3 - 1;
        if (z < 0 || y < 0 || x < 0 || z >= boxes || y >= boxes || x >= boxes) continue;
        const long long first = 100LL * ((z * boxes + y) * boxes + x);
        for (int other = 0; other < 100; other++) {
            const double *to = positions + 4 * (first + other), q = charges[first + other];
            const double r = at[0] + to[0] - (at[1] * to[1] + at[2] * to[2] + at[3] * to[3]);
            const double potential = exp(-0.5 * r);
            for (int part = 0; part < 4; part++) {
                const double term = q * potential * (part == 0 ? 1.0 : 2.0 * (at[part] - to[part]));
                sums[part] += term;
                magnitudes[part] += fabs(term);
            }
        }
    }
    for (int part = 0; part < 4; part++) {
        forces[4 * (100LL * home + threadIdx.x) + part] = sums[part];
        scale[4 * (100LL * home + threadIdx.x) + part] = magnitudes[part];
    }
}

extern "C" void reference(const double *positions, const double *charges, double *forces, double *forces_scale, int boxes) {
    reference_forces<<<boxes * boxes * boxes, 100>>>(positions, charges, forces, forces_scale, boxes);
}
