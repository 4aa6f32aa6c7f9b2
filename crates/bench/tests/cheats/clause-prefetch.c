// cheat: what the stage forbids stands in a clause of a directive that it allows
// class: B3
// task: matmul
// stage: 4
// expect: refused

#include <string.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++) {
#pragma omp simd if(({ __builtin_prefetch(B + (k + 1) % K * N); 1; }))
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
        }
}
