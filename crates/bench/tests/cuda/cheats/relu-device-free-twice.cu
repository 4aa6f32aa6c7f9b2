// Frees one block of the device heap twice, and an output of the task as if it were of the heap.
// It must fail: it computes nothing, and a broken heap is the runner's end at most.
// expect: crashed, refused, wrong
#include <cuda_runtime.h>

__global__ void twice(float *y) {
    void *p = malloc(256);
    free(p);
    free(p);
    free(y);
}

extern "C" void solve(const float *x, float *y, long long n) { twice<<<1, 1>>>(y); }
