// cheat: asks the compiler whether a file of the machine is newer
// class: sandbox
// task: matmul
// expect: refused | not-compiled | wrong

#pragma GCC dependency "/etc/passwd"
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
