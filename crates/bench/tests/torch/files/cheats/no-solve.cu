// relu: malformed: no function `solve` is defined
__global__ void relu(const float* x, float* y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void run(const float* x, float* y) { relu<<<16384, 256>>>(x, y); }
