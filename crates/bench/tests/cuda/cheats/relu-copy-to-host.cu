// Copies the input to the host, computes there and copies back.
// It must fail: host code sees no data; such a copy is refused with the reason.
// expect: refused, not-compiled
#include <cuda_runtime.h>
#include <vector>

extern "C" void solve(const float *x, float *y, long long n) {
    std::vector<float> h(n);
    cudaMemcpy(h.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (float &v : h) v = v > 0 ? v : 0;
    cudaMemcpy(y, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}
