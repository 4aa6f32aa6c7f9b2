// cheat: an include that never ends
// class: resource
// task: matmul
// expect: refused | not-compiled | timed-out

#include "/dev/zero"
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
