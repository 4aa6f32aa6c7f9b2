// Makes the page of a static array executable and launches if the code in it ran.
// It must fail: the jail changes no protection to executable.
// expect: not-compiled, refused, crashed, wrong
#include <cstdint>
#include <cuda_runtime.h>
#include <sys/mman.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

alignas(4096) static unsigned char page[4096] = {0xb8, 0x2a, 0, 0, 0, 0xc3};

extern "C" void solve(const float *x, float *y, long long n) {
    if (mprotect(page, sizeof page, PROT_READ | PROT_EXEC) != 0) return;
    if (((int (*)())(uintptr_t)page)() == 42) relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
