__global__ void lonely(int *x) { for (int i = 0; i < 8; i++) x[i] = i; }
