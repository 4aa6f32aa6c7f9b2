// cheat: no entry point
// class: malformed
// task: matmul
// expect: malformed | refused | not-compiled

void matmul(double *A, double *B, double *C, int M, int N, int K) {}
