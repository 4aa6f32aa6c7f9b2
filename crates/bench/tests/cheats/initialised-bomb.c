// cheat: an initialised array of 8 GiB makes an object of 8 GiB
// class: resource
// task: matmul
// expect: not-compiled | timed-out | refused

char big[(size_t)8 << 30] = {1};
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    C[0] = big[M];
}
