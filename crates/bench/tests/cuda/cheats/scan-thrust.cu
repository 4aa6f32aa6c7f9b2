// Calls thrust's scan, which launches kernels and allocates by itself.
// It must fail: its host code talks to a real runtime.
// expect: refused, not-compiled
#include <cuda_runtime.h>
#include <thrust/device_ptr.h>
#include <thrust/scan.h>

extern "C" void solve(const float *x, float *y, int n) {
    thrust::device_ptr<const float> from(x);
    thrust::device_ptr<float> to(y);
    thrust::inclusive_scan(from, from + n, to);
}
