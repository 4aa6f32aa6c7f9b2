// Leaves the launch to a host function that the stream calls later.
// It must fail: a plan holds no host functions.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

struct Call { const float *x; float *y; long long n; };
static Call call;

static void later(void *data) {
    Call *c = (Call *)data;
    relu<<<(unsigned)((c->n + 255) / 256), 256>>>(c->x, c->y, c->n);
}

extern "C" void solve(const float *x, float *y, long long n) {
    call = Call{x, y, n};
    cudaLaunchHostFunc(0, later, &call);
}
