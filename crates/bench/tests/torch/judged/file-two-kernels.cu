// scaled: correct: 
__global__ void relu(const float* x, float* t) {
    const int i = blockIdx.x * 48 + threadIdx.x;
    t[i] = fmaxf(x[i], 0.0f);
}

__global__ void scale(const float* t, const float* w, float* y) {
    const int i = blockIdx.x * 48 + threadIdx.x;
    y[i] = t[i] * w[threadIdx.x];
}

extern "C" void solve(const float* x, const float* w, float* y) {
    float* own;
    cudaMalloc(&own, 33 * 48 * sizeof(float));
    relu<<<33, 48>>>(x, own);
    scale<<<33, 48>>>(own, w, y);
}
