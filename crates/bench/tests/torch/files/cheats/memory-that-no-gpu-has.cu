// relu: refused: the result cannot depend on one
__global__ void relu(const float* x, float* y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float* x, float* y) {
    float* own;
    cudaMalloc(&own, 1ull << 50);
    relu<<<16384, 256>>>(x, own);
    relu<<<16384, 256>>>(own, y);
}
