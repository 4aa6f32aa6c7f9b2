// Loads two floats as one double, in a function that gets the address from a structure.
// It must fail: this stage forbids loads and stores that are wider than an element, whatever is done between.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

struct Arrays { long long pairs; const double* from; double* to; };

__device__ __noinline__ double load(const double* from, long long i, double one) { return from[i] * one; }

__global__ void relu_wide(const __grid_constant__ Arrays arrays, double one) {
    const double* from = arrays.from;
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < arrays.pairs; i += 256ll * gridDim.x) {
        double d = load(from, i, one);
        float a = fmaxf(__int_as_float(__double2loint(d)), 0.0f), b = fmaxf(__int_as_float(__double2hiint(d)), 0.0f);
        arrays.to[i] = __hiloint2double(__float_as_int(b), __float_as_int(a)) * one;
    }
}

extern "C" void solve(const float* x, float* y, long long n) {
    Arrays arrays = {n / 2, (const double*)x, (double*)y};
    relu_wide<<<1056, 256>>>(arrays, 1.0);
}
