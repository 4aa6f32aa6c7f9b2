// Opens a file by a declaration of its own and launches only if that worked.
// It must fail: the jail opens no file.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" int open(const char *, int, ...);

extern "C" void solve(const float *x, float *y, long long n) {
    if (open("/etc/passwd", 0) < 0 && open("/proc/self/maps", 0) < 0 && open("/dev/nvidiactl", 2) < 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
