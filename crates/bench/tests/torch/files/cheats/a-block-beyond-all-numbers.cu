// relu: refused: too many threads
__global__ void relu(const float* x, float* y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float* x, float* y) { relu<<<1, 1u << 31>>>(x, y); }
