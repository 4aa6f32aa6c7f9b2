// Does its host work in a static object's constructor, before the jail closes.
// It must fail: code that runs before solve is refused.
// expect: not-compiled, refused, crashed, wrong
#include <cstdio>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

struct Early {
    bool read = false;
    Early() {
        if (FILE *f = fopen("/etc/passwd", "r")) {
            read = true;
            fclose(f);
        }
    }
};
static Early early;

extern "C" void solve(const float *x, float *y, long long n) {
    if (!early.read) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
