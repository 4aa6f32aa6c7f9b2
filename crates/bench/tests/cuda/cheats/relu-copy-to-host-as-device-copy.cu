// Copies the input to the host but calls it a copy on the device.
// It must fail: the destination is no buffer of the plan.
// expect: refused, not-compiled, crashed
#include <cuda_runtime.h>
#include <vector>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    std::vector<float> h(n < 1024 ? n : 1024);
    cudaMemcpy(h.data(), x, h.size() * sizeof(float), cudaMemcpyDeviceToDevice);
    if (h[0] > -2.0f) relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    cudaMemcpy(h.data(), y, h.size() * sizeof(float), cudaMemcpyDefault);
}
