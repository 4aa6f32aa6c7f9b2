// A PyTorch extension instead of the form that was asked for.
// It must fail: there is no solve, and no torch to include.
// expect: malformed, refused, not-compiled
#include <cuda_runtime.h>
#include <torch/extension.h>

__global__ void relu_kernel(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

torch::Tensor relu(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    relu_kernel<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("relu", &relu, "ReLU (CUDA)"); }
