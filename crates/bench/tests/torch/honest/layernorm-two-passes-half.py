import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r'''
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

__inline__ __device__ float warpReduceSum(float val) {
  #pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) val += __shfl_xor_sync(0xffffffff, val, mask, 32);
  return val;
}

__inline__ __device__ float blockReduceSum(float val) {
  static __shared__ float shared[32];
  int lane = threadIdx.x & 0x1f;
  int wid = threadIdx.x >> 5;
  val = warpReduceSum(val);
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < (blockDim.x >> 5)) ? shared[lane] : 0.0f;
  val = warpReduceSum(val);
  return val;
}

__global__ void layernorm_kernel(const float* x, const float* gamma, const float* beta, float* y, float eps, int hidden) {
  __shared__ float s_mean, s_rstd;
  const float* row = x + (size_t)blockIdx.x * hidden;
  float sum = 0.f, sq = 0.f;
  for (int i = threadIdx.x; i < hidden / 4; i += blockDim.x) {
    float4 v = reinterpret_cast<const float4*>(row)[i];
    sum += v.x + v.y + v.z + v.w;
    sq += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  sum = blockReduceSum(sum);
  __syncthreads();
  sq = blockReduceSum(sq);
  if (threadIdx.x == 0) {
    s_mean = sum / hidden;
    s_rstd = rsqrtf(sq / hidden - s_mean * s_mean + eps);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < hidden; i += blockDim.x)
    y[(size_t)blockIdx.x * hidden + i] = (row[i] - s_mean) * s_rstd * gamma[i] + beta[i];
}

torch::Tensor layernorm_forward(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta, double eps) {
  auto y = torch::empty_like(x);
  int hidden = gamma.numel();
  int rows = x.numel() / hidden;
  layernorm_kernel<<<rows, 128>>>(x.data_ptr<float>(), gamma.data_ptr<float>(), beta.data_ptr<float>(), y.data_ptr<float>(), (float)eps, hidden);
  cudaDeviceSynchronize();
  return y;
}
'''

_layernorm = None


def get_ext():
    global _layernorm
    if _layernorm is None:
        _layernorm = load_inline(
            name="layernorm_ext",
            cpp_sources="torch::Tensor layernorm_forward(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta, double eps);",
            cuda_sources=source,
            functions=["layernorm_forward"],
        )
    return _layernorm


class ModelNew(nn.Module):
    def __init__(self, features, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        return get_ext().layernorm_forward(x, self.weight, self.bias, self.eps)
