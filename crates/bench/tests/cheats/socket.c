// cheat: calls home
// class: sandbox
// task: matmul
// expect: refused

extern int socket(int, int, int);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    C[0] = socket(2, 1, 0);
}
