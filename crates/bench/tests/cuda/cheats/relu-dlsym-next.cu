// Looks up the recorder's own cudaMalloc and open by name.
// It must fail: the recorder is linked without names to look up; nothing is launched when it fails.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <dlfcn.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    void *real = dlsym(RTLD_DEFAULT, "openat");
    auto open_at = (int (*)(int, const char *, int))real;
    if (!real || open_at(-100, "/etc/passwd", 0) < 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
