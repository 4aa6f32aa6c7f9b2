// Opens the GPU itself and launches only if the device could be opened.
// It must fail: the recorder has no GPU and opens no file.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <fcntl.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (open("/dev/nvidia0", O_RDWR) < 0 && open("/dev/nvidiactl", O_RDWR) < 0 && open("/dev/null", O_RDWR) < 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
