// cheat: asks for a file of the process by a name that is pasted together
// class: sandbox
// task: matmul
// expect: refused

#define PLACE </proc/self/fd/5>
#if !__CONCAT(__has_, include)(PLACE)
_Pragma("GCC optimize(\"Ofast\")")
#endif
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
