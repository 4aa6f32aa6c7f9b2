// Loads four floats by a cache intrinsic, through a type name of its own.
// It must fail: this stage forbids vector loads.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

using Pack = decltype(make_float4(0, 0, 0, 0));

__global__ void saxpy(float a, const float *x, const float *y, float *z, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (4ll * i + 3 < n) {
        Pack u = __ldcs((const Pack *)x + i), v = __ldg((const Pack *)y + i);
        __stcs((Pack *)z + i, make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w));
    } else {
        for (int k = 4 * i; k < n; k++) z[k] = a * x[k] + y[k];
    }
}

extern "C" void solve(float a, const float *x, const float *y, float *z, int n) {
    saxpy<<<(n / 4 + 256) / 256, 256>>>(a, x, y, z, n);
}
