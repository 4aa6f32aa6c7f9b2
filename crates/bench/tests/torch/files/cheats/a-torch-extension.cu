// relu: malformed: is a PyTorch extension
#include <torch/extension.h>
__global__ void relu(const float* x, float* y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = fmaxf(x[i], 0.0f);
}

torch::Tensor forward(torch::Tensor x) { return x; }
