// cheat: an entry point that no one outside can see
// class: malformed
// task: matmul
// expect: wrong

static void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
