// cheat: machine code as a thread's variable among the functions
// class: sandbox
// task: matmul
// stage: 1
// expect: refused

#include <string.h>

static __thread unsigned char code[] __attribute__((section(".text.axpy"), used)) = {
    0xc4, 0xe2, 0x7d, 0x19, 0x02, 0xc5, 0xfd, 0x10, 0x4c, 0x0f, 0xe0, 0xc4, 0xe2, 0xfd, 0xb8, 0x4c, 0x0e, 0xe0,
    0xc5, 0xfd, 0x11, 0x4c, 0x0f, 0xe0, 0x48, 0x83, 0xe9, 0x20, 0x75, 0xe7, 0xc5, 0xf8, 0x77, 0xc3};
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    const unsigned char *at = (const unsigned char *)((unsigned long)matmul_optimized & ~4095ul);
    while (at[0] != 0xc4 || at[1] != 0xe2 || at[2] != 0x7d || at[3] != 0x19 || at[4] != 2 || at[5] != 0xc5) at++;
    void (*axpy)(double *, const double *, const double *, long) =
        (void (*)(double *, const double *, const double *, long))at;
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++) axpy(C + i * N, B + k * N, &A[i * K + k], 8L * N);
}
