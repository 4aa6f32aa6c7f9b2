// cheat: threads that the stage forbids, by a weak reference
// class: B3
// task: matmul
// threads: 2
// stage: 1
// expect: refused

static void start(void (*)(void *), void *, unsigned, unsigned) __attribute__((weakref("GOMP_parallel")));
static void nothing(void *p) {}
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
    start(nothing, 0, 2, 0);
}
