// Loads and stores two floats as one double, at addresses that lie in memory.
// It must fail: this stage forbids loads and stores that are wider than an element, whatever is done between.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

struct Table { const double* from; double* to; };

__global__ void relu_wide(const Table* table, long long pairs, double one) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < pairs) {
        double d = table->from[i] * one;
        float a = fmaxf(__int_as_float(__double2loint(d)), 0.0f), b = fmaxf(__int_as_float(__double2hiint(d)), 0.0f);
        table->to[i] = __hiloint2double(__float_as_int(b), __float_as_int(a)) * one;
    }
}

extern "C" void solve(const float* x, float* y, long long n) {
    Table table = {(const double*)x, (double*)y}, *on_gpu;
    cudaMalloc(&on_gpu, sizeof table);
    cudaMemcpy(on_gpu, &table, sizeof table, cudaMemcpyHostToDevice);
    relu_wide<<<(n / 2 + 256) / 256, 256>>>(on_gpu, n / 2, 1.0);
    cudaFree(on_gpu);
}
