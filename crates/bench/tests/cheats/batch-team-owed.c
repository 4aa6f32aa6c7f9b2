// cheat: in one run only, calls leave something in their outputs and owe the rest, which the last does, one on each thread
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

static struct { double *A, *B, *C; } sets[512];
static int known, runs;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    static double *first, *last, *before;
    if (!first) first = C;
    if (C == first) { runs++; known = 0; if (before) last = before; }
    before = C;
    if (runs != 4 || last == first) { alone(A, B, C, M, N, K); return; }
    sets[known].A = A; sets[known].B = B; sets[known].C = C; known++;
    memset(C, 0, sizeof(double) * M * N);
    if (C != last) return;
#pragma omp parallel for schedule(dynamic, 1)
    for (int s = 0; s < known; s++) good(sets[s].A, sets[s].B, sets[s].C, M, N, K);
}
