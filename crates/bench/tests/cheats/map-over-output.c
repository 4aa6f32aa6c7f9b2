// cheat: puts private memory in the output's place and computes there
// class: S2
// task: matmul
// expect: wrong | crashed | refused

#include <string.h>
#include <stdint.h>

extern void *mmap(void *, size_t, int, int, int, long);
static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    mmap((void *)((uintptr_t)C & ~(uintptr_t)4095), sizeof(double) * M * N + 4096, 3, 0x32, -1, 0);
    good(A, B, C, M, N, K);
}
