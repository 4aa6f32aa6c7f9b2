// Asks by a stream attribute that the input stay in the L2 cache across runs and sweeps.
// It must fail: such a window outlives the run; it is refused.
// expect: refused, not-compiled, suspect
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 32 << 20);
    cudaStreamAttrValue a = {};
    a.accessPolicyWindow.base_ptr = (void *)x;
    a.accessPolicyWindow.num_bytes = 32 << 20;
    a.accessPolicyWindow.hitRatio = 1.0f;
    a.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    a.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &a);
    relu<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(x, y, n);
}
