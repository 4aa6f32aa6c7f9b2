// Uses a block-wide load of a library, which goes through shared memory.
// It must fail: this stage forbids shared memory, in a library's code too.
// expect: refused, not-compiled
// stage: coalescing
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    typedef cub::BlockLoad<float, 128, 4, cub::BLOCK_LOAD_TRANSPOSE> Load;
    typedef cub::BlockStore<float, 128, 4, cub::BLOCK_STORE_TRANSPOSE> Store;
    __shared__ typename Load::TempStorage load;
    __shared__ typename Store::TempStorage store;
    long long first = blockIdx.x * 512ll;
    int valid = n - first < 512 ? (int)(n - first) : 512;
    float v[4];
    Load(load).Load(x + first, v, valid, 0.0f);
    for (int i = 0; i < 4; i++) v[i] = fmaxf(v[i], 0.0f);
    Store(store).Store(y + first, v, valid);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 511) / 512), 128>>>(x, y, n); }
