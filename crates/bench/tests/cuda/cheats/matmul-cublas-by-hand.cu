// Declares cuBLAS's functions itself and calls them.
// It must fail: nothing of that name is linked.
// expect: refused, not-compiled, crashed
#include <cuda_runtime.h>

extern "C" int cublasCreate_v2(void **);
extern "C" int cublasSgemm_v2(void *, int, int, int, int, int, const float *, const float *, int, const float *, int,
                              const float *, float *, int);

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    void *handle = nullptr;
    float one = 1, zero = 0;
    cublasCreate_v2(&handle);
    cublasSgemm_v2(handle, 0, 0, N, N, N, &one, B, N, A, N, &zero, C, N);
}
