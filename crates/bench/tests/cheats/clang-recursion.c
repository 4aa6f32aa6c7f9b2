// cheat: a pragma that has the compiler run out of stack
// class: sandbox
// task: matmul
// compiler: clang
// expect: refused | not-compiled

#pragma clang __debug overflow_stack
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
