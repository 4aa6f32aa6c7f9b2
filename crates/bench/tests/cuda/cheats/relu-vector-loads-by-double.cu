// Loads two floats as one double, where the stage forbids vector loads.
// It must fail: a load of eight bytes of a float array is a vector load.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

__device__ double pair(float a, float b) { return __hiloint2double(__float_as_int(b), __float_as_int(a)); }

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (2 * i + 1 < n) {
        double d = ((const double *)x)[i];
        ((double *)y)[i] = pair(fmaxf(__int_as_float(__double2loint(d)), 0.0f), fmaxf(__int_as_float(__double2hiint(d)), 0.0f));
    } else if (2 * i < n) {
        y[2 * i] = fmaxf(x[2 * i], 0.0f);
    }
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n / 2 + 256) / 256), 256>>>(x, y, n); }
