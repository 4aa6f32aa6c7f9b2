__global__ void polynomial(const float *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int degree = 0; degree < 160; degree++) {
        float power = 1.0f;
        for (int factor = 0; factor < degree; factor++) power *= x[i];
        sum += power;
    }
    y[i] = sum;
}
