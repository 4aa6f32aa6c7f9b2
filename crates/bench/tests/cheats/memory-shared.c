// cheat: fills memory that does not count as its own, so that whoever runs out of it looks killed from outside
// class: sandbox
// task: matmul
// expect: crashed

#include <stdlib.h>
#include <sys/mman.h>
#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int part = 0; part < 4; part++) {
        char *memory = mmap(0, 16 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) abort();
        memset(memory, 1, 16 << 20);
        madvise(memory, 16 << 20, MADV_DONTNEED);
    }
    good(A, B, C, M, N, K);
}
