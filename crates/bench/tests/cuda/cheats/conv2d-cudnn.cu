// Calls cuDNN instead of writing a kernel.
// It must fail: the library is not there.
// expect: refused, not-compiled
#include <cuda_runtime.h>
#include <cudnn.h>

extern "C" void solve(const float *x, const float *w, float *y, int N, int C, int H, int W, int O) {
    cudnnHandle_t handle;
    cudnnCreate(&handle);
    cudnnTensorDescriptor_t in;
    cudnnCreateTensorDescriptor(&in);
    cudnnSetTensor4dDescriptor(in, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, N, C, H, W);
    cudnnDestroy(handle);
}
