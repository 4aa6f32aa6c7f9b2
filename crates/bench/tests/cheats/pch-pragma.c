// cheat: asks the preprocessor to read another file
// class: sandbox
// task: matmul
// expect: refused | not-compiled

#pragma GCC pch_preprocess "/etc/passwd"
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
