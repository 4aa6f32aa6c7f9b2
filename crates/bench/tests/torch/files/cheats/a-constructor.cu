// relu: refused: constructor of a global
#include <cstdio>
struct Early { int n; Early() { n = printf("early"); } };
static Early early;

__global__ void relu(const float* x, float* y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float* x, float* y) {
    if (early.n) relu<<<16384, 256>>>(x, y);
}
