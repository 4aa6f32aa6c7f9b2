// Writes records of a plan by hand, each broken in another way, and ends with status 0.
// It must fail: a plan is data and read as such; none of these is an answer.
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

struct Bytes {
    unsigned char data[512];
    unsigned long size = 0;
    template <class T> Bytes &put(T v) {
        memcpy(data + size, &v, sizeof v);
        size += sizeof v;
        return *this;
    }
    Bytes &name(const char *text) {
        put((uint32_t)strlen(text));
        memcpy(data + size, text, strlen(text));
        size += strlen(text);
        return *this;
    }
};

extern "C" void solve(const float *x, float *y, long long n) {
    const uint64_t first = 0x5a00000000000000, step = 1ull << 40;
    Bytes b;
    switch (n % 8) {
    case 0: b.put('L').name("relu").put(1u).put(1u).put(1u).put(1u).put(1u).put(1u).put(0u).put((uint8_t)0).put(1u).put(1u).put(1u).put(~0u); break;
    case 1: b.put('U').put(first + step).put(~0ull); break;
    case 2: b.put('C').put(first + step).put(first - 8).put(64ull); break;
    case 3: b.put('F').put(first + step + 2).put(0u).put((uint8_t)4).put(~0ull - 3); break;
    case 4: b.put('B').put(first + 2 * step).put(1ull << 63).put('B').put(first + 3 * step).put(1ull << 63); break;
    case 5: b.put('S').put(0x5b00000000000000).put(~0ull).name("x"); break;
    case 6: b.put('R').put(~0u); break;
    default: b.put('L').put(~0u); break;
    }
    b.put('E');
    write(3, b.data, b.size);
    write(1, b.data, b.size);
    _exit(0);
}
