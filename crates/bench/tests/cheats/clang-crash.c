// cheat: a pragma that has the compiler crash, for an error that is nobody's
// class: sandbox
// task: matmul
// compiler: clang
// expect: refused | not-compiled

#pragma clang __debug crash
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
