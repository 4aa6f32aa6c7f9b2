// Writes a plan by hand that launches a kernel of one thread, and ends with status 0.
// It must fail: a forged plan can ask only for what an honest one can, and this one computes too
// little.
// expect: not-compiled, refused, crashed, wrong
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" long write(int, const void *, unsigned long);
extern "C" void _exit(int);

extern "C" void solve(const float *x, float *y, long long n) {
    unsigned char b[256];
    unsigned long size = 0;
    auto put = [&](auto v) {
        memcpy(b + size, &v, sizeof v);
        size += sizeof v;
    };
    put('L');
    put(4u);
    memcpy(b + size, "relu", 4);
    size += 4;
    for (unsigned v : {1u, 1u, 1u, 1u, 1u, 1u, 0u}) put(v);
    put((uint8_t)0);
    for (unsigned v : {1u, 1u, 1u, 3u, 8u}) put(v);
    put((uint64_t)x);
    put(8u);
    put((uint64_t)y);
    put(8u);
    put((uint64_t)n);
    put('E');
    write(3, b, size);
    _exit(0);
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
