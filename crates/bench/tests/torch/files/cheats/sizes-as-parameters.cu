// relu: malformed: solve
__global__ void relu(const float* x, float* y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float* x, float* y, int n) { relu<<<n / 256, 256>>>(x, y); }
