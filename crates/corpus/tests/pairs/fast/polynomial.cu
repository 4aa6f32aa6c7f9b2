__global__ void polynomial(const float *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float at = x[i];
    float sum = 0.0f;
    for (int degree = 0; degree < 160; degree++) sum = sum * at + 1.0f;
    y[i] = sum;
}
