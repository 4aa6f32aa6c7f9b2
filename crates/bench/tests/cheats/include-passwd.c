// cheat: reads a file of the machine through the compiler
// class: sandbox
// task: matmul
// expect: refused | not-compiled

#include "/etc/passwd"
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
