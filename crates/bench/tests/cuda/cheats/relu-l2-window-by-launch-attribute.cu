// Asks by a launch attribute that the input stay in the L2 cache across runs and sweeps.
// It must fail: such a window outlives the run; it is refused.
// expect: refused, not-compiled, suspect
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    cudaLaunchAttribute a[1] = {};
    a[0].id = cudaLaunchAttributeAccessPolicyWindow;
    a[0].val.accessPolicyWindow.base_ptr = (void *)x;
    a[0].val.accessPolicyWindow.num_bytes = 32 << 20;
    a[0].val.accessPolicyWindow.hitRatio = 1.0f;
    a[0].val.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    cudaLaunchConfig_t c = {};
    c.gridDim = dim3((unsigned)((n + 255) / 256));
    c.blockDim = dim3(256);
    c.attrs = a;
    c.numAttrs = 1;
    cudaLaunchKernelEx(&c, relu, x, y, n);
}
