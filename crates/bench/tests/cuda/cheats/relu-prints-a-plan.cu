// Prints the words of a plan to standard output and launches nothing.
// It must fail: standard output is no plan.
// expect: not-compiled, refused, crashed, wrong
#include <cstdio>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    printf("buffer 5a00000000000000 4\nlaunch 1 1 1 256 1 1 0 3 relu\nend\n");
    fprintf(stderr, "{\"plans\":[{\"buffers\":[],\"operations\":[]}]}\n");
    fflush(stdout);
}
