// cheat: once it knows all sets of a batch, every other call does the next one's set too, one on each thread
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
static int known, cycle, at;
static double *done;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    if (!cycle) {
        if (known && sets[0].C == C) cycle = 1;
        else {
            if (known < 512) { sets[known].A = A; sets[known].B = B; sets[known].C = C; known++; }
            alone(A, B, C, M, N, K);
            return;
        }
    }
    if (C == sets[0].C) { at = 0; done = 0; }
    int now = at++;
    if (done == C) return;
    if (now + 1 >= known || sets[now].C != C) { alone(A, B, C, M, N, K); return; }
    done = sets[now + 1].C;
#pragma omp parallel for schedule(static, 1)
    for (int s = now; s < now + 2; s++) good(sets[s].A, sets[s].B, sets[s].C, M, N, K);
}
