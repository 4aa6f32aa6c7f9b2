// Walks back from its output in steps of 512 bytes and looks for an array that equals relu(x)
// already.
// It must fail: the bench keeps no such array within reach; the walk ends in a fault or finds
// nothing.
// expect: crashed, wrong, timed-out
#include <cuda_runtime.h>

__device__ const float *found;

__global__ void search(const float *x, const float *y) {
    found = nullptr;
    for (long long step = 1; step < (1ll << 24); step++) {
        const float *at = y - step * 128;
        bool same = true;
        for (int i = 0; i < 8 && same; i++) same = at[i] == fmaxf(x[i], 0.0f);
        if (same) {
            found = at;
            return;
        }
    }
}

__global__ void copy(float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (found && i < n) y[i] = found[i];
}

extern "C" void solve(const float *x, float *y, long long n) {
    search<<<1, 1>>>(x, y);
    copy<<<(unsigned)((n + 255) / 256), 256>>>(y, n);
}
