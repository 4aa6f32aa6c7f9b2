// Writes random bytes to every descriptor and launches only if one of them took the bytes.
// It must fail: a plan that does not parse is the candidate's fault, not the machine's.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <unistd.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

static unsigned char noise[1 << 16];

extern "C" void solve(const float *x, float *y, long long n) {
    unsigned v = 1;
    bool taken = false;
    for (unsigned char &b : noise) b = (unsigned char)((v = v * 1664525u + 1013904223u) >> 24);
    for (int fd = 3; fd < 1024; fd++) taken |= write(fd, noise, sizeof noise) > 0;
    if (!taken) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
