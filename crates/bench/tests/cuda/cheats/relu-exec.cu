// Starts a shell in place of the recorder.
// It must fail: the jail starts no program; nothing is launched when it is denied.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <unistd.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    char *const argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)"echo launch", nullptr};
    execve("/bin/sh", argv, argv + 3);
}
