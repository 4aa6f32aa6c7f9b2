// Makes a socket and launches only if it got one.
// It must fail: the jail makes no sockets.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <sys/socket.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (socket(AF_UNIX, SOCK_STREAM, 0) < 0 && socket(AF_INET, SOCK_DGRAM, 0) < 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
