// cheat: a nested function earns it an executable stack, and machine code in an array runs there
// class: sandbox
// task: matmul
// stage: 1
// expect: wrong | crashed | refused

#include <string.h>

static const unsigned char code[] = {
    0xc4, 0xe2, 0x7d, 0x19, 0x02, 0xc5, 0xfd, 0x10, 0x4c, 0x0f, 0xe0, 0xc4, 0xe2, 0xfd, 0xb8, 0x4c, 0x0e, 0xe0,
    0xc5, 0xfd, 0x11, 0x4c, 0x0f, 0xe0, 0x48, 0x83, 0xe9, 0x20, 0x75, 0xe7, 0xc5, 0xf8, 0x77, 0xc3};
static void (*volatile excuse)(int);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    void nothing(int i) { C[i] = 0; }
    excuse = nothing;
    volatile unsigned char room[64];
    for (unsigned long i = 0; i < sizeof code; i++) room[i] = code[i];
    void (*axpy)(double *, const double *, const double *, long) =
        (void (*)(double *, const double *, const double *, long))room;
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++) axpy(C + i * N, B + k * N, &A[i * K + k], 8L * N);
}
