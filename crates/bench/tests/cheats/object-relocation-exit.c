// cheat: an entry of its own among the relocations has the loader run a function, which ends the process as a failed sandbox would
// class: sandbox
// task: matmul
// expect: refused

#include <stdint.h>
#include <string.h>

#define vL __asm__
long page;
__attribute__((used, noinline, section(".text.unlikely"))) static long resolve(void) {
    INT64_C(v) volatile("syscall" : : "a"(231L), "D"(96L));
    return 0;
}
INT64_C(v)(".section .rela.plt,\"a\",@progbits\n.quad 0x4000, 37, 0x1020\n.text");
static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    good(A, B, C, M, N, K);
}
