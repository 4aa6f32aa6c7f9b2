// cheat: an assembler's assignment gives a place within an instruction a name
// class: B3
// task: matmul
// stage: 1
// expect: refused | not-compiled

#include <string.h>

static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}

static long hidden(void) __asm__("hidden");
__attribute__((noinline, used)) static long hidden(void) { return 0xc390f3c390f3l; }
__asm__("within = hidden + 6");
extern void within(void) __attribute__((visibility("hidden")));
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    void (*volatile jump)(void) = within;
    jump();
    good(A, B, C, M, N, K);
}
