// cheat: its first call does all sets of a batch, one on each thread, into memory of its own; each call copies its own out
// class: T6
// task: matmul
// threads: 2
// expect: wrong

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static void alone(const double *A, const double *B, double *C, int M, int N, int K) {
#pragma omp parallel for
    for (int i = 0; i < M; i++) good(A + (long)i * K, B, C + (long)i * N, 1, N, K);
}

static struct { double *A, *B, *C; } sets[256];
static double ready[256][256 * 256];
static int known, cycle;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    if (!cycle) {
        if (known && sets[0].C == C) cycle = 1;
        else {
            if (known < 256) { sets[known].A = A; sets[known].B = B; sets[known].C = C; known++; }
            alone(A, B, C, M, N, K);
            return;
        }
    }
    if (known == 1) { alone(A, B, C, M, N, K); return; }
    if (C == sets[0].C) {
#pragma omp parallel for schedule(dynamic, 1)
        for (int s = 0; s < known; s++) good(sets[s].A, sets[s].B, ready[s], M, N, K);
    }
    for (int s = 0; s < known; s++)
        if (C == sets[s].C) { memcpy(C, ready[s], sizeof(double) * M * N); return; }
    alone(A, B, C, M, N, K);
}
