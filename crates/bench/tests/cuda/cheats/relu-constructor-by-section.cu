// Puts a function pointer into .init_array by a section attribute.
// It must fail: code that runs before solve is refused, however it gets there.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <unistd.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

static int early = -1;
static void first(int, char **, char **) { early = access("/etc/passwd", 0); }
__attribute__((section(".init_array"), used)) static void (*entry)(int, char **, char **) = first;

extern "C" void solve(const float *x, float *y, long long n) {
    if (early != 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
