// cheat: kills its process group
// class: sandbox
// task: matmul
// expect: refused | crashed

extern int kill(int, int);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    kill(0, 9);
}
