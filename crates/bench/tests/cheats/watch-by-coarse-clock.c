// cheat: asks for the coarse time, which the kernel shows without a counter: that it passes tells who is watched
// class: B3
// task: matmul
// stage: 1
// needs: watch
// expect: crashed

#include <time.h>

static volatile long ticks;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    ticks = t.tv_nsec;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
