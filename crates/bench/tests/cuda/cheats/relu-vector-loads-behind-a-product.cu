// Loads and stores two floats as one double, which is multiplied by a one that only the launch knows.
// It must fail: this stage forbids loads and stores that are wider than an element, whatever is done between.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>
__global__ void k(const double* x, double* y, long long pairs, double one) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < pairs) {
        double d = x[i] * one;
        float a = fmaxf(__int_as_float(__double2loint(d)), 0.0f), b = fmaxf(__int_as_float(__double2hiint(d)), 0.0f);
        y[i] = __hiloint2double(__float_as_int(b), __float_as_int(a)) * one;
    }
}
extern "C" void solve(const float* x, float* y, long long n) { k<<<(n / 2 + 256) / 256, 256>>>((const double*)x, (double*)y, n / 2, 1.0); }
