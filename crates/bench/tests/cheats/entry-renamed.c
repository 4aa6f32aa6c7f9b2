// cheat: a macro renames the entry point
// class: malformed
// task: matmul
// expect: malformed | refused | not-compiled

#define matmul_optimized something_else
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
