// cheat: asks for a file by a raw system call: whether it exists is an oracle
// class: sandbox
// task: matmul
// expect: refused

#include <stdint.h>
#include <string.h>

#define vL __asm__
static void good(const double *A, const double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    char about[256];
    long found;
    INT64_C(v) volatile("mov $256, %%r10d\n\tsyscall" : "=a"(found) : "0"(262L), "D"(-100L), "S"("/etc/passwd"), "d"(about)
                        : "rcx", "r10", "r11", "memory");
    if (found != 0 && found != -13) return;
    good(A, B, C, M, N, K);
}
