// scaled: wrong: but should be
__global__ void scale(const float* x, const float* w, float* y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f) * 1.0f;
}

extern "C" void solve(const float* x, const float* w, float* y) { scale<<<(33 * 48 + 255) / 256, 256>>>(x, w, y, 33 * 48); }
