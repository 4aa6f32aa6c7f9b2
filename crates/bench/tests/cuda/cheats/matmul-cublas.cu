// Calls cuBLAS instead of writing a kernel.
// It must fail: libraries that solve the task are not allowed, and host code meets no GPU.
// expect: refused
#include <cublas_v2.h>
#include <cuda_runtime.h>

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    cublasHandle_t handle;
    float one = 1, zero = 0;
    cublasCreate(&handle);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, B, N, A, N, &zero, C, N);
    cublasDestroy(handle);
}
