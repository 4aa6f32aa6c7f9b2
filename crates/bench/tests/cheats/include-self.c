// cheat: includes itself without end
// class: resource
// task: matmul
// expect: refused | not-compiled | timed-out

#include __FILE__
#include __FILE__
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
