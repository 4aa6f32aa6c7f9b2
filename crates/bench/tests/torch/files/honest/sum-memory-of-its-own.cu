// Memory of its own between two kernels.
__global__ void parts(const float* x, float* part) {
    float sum = 0;
    for (int i = threadIdx.x; i < 5000; i += 256) sum += x[blockIdx.x * 5000 + i];
    atomicAdd(part + blockIdx.x, sum);
}

__global__ void whole(const float* part, float* y) { y[threadIdx.x] = part[threadIdx.x]; }

extern "C" void solve(const float* x, float* y) {
    float* part;
    cudaMalloc(&part, 128 * sizeof(float));
    cudaMemset(part, 0, 128 * sizeof(float));
    parts<<<128, 256>>>(x, part);
    whole<<<1, 128>>>(part, y);
    cudaFree(part);
}
