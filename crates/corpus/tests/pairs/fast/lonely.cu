__global__ void lonely(int *x) { x[threadIdx.x] = threadIdx.x; }
