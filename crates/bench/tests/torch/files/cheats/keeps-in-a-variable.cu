// relu: refused: 
__device__ float kept[256];

__global__ void relu(const float* x, float* y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = kept[threadIdx.x] + x[i];
}

extern "C" void solve(const float* x, float* y) { relu<<<16384, 256>>>(x, y); }
