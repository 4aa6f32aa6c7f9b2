// cheat: a function in the section of data makes all data executable, and machine code in an array is copied there
// class: sandbox
// task: matmul
// stage: 1
// expect: refused

#include <string.h>

// As in code-in-data.c.
static const unsigned char code[] = {
    0xc4, 0xe2, 0x7d, 0x19, 0x02, 0xc5, 0xfd, 0x10, 0x4c, 0x0f, 0xe0, 0xc4, 0xe2, 0xfd, 0xb8, 0x4c, 0x0e, 0xe0,
    0xc5, 0xfd, 0x11, 0x4c, 0x0f, 0xe0, 0x48, 0x83, 0xe9, 0x20, 0x75, 0xe7, 0xc5, 0xf8, 0x77, 0xc3};
static unsigned char room[64];
__attribute__((section(".data.axpy"), noinline, used)) static void never(void) {}
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    void (*axpy)(double *, const double *, const double *, long) =
        (void (*)(double *, const double *, const double *, long))room;
    memcpy(room, code, sizeof code);
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++) axpy(C + i * N, B + k * N, &A[i * K + k], 8L * N);
}
