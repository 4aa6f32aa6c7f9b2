// cheat: an entry of its own among the loader's relocations has a function run at load, while memory can still be made executable
// class: sandbox
// task: matmul
// stage: 1
// expect: refused

#include <string.h>

extern void *mmap(void *, size_t, int, int, int, long);
// As in code-in-data.c.
static const unsigned char code[] = {
    0xc4, 0xe2, 0x7d, 0x19, 0x02, 0xc5, 0xfd, 0x10, 0x4c, 0x0f, 0xe0, 0xc4, 0xe2, 0xfd, 0xb8, 0x4c, 0x0e, 0xe0,
    0xc5, 0xfd, 0x11, 0x4c, 0x0f, 0xe0, 0x48, 0x83, 0xe9, 0x20, 0x75, 0xe7, 0xc5, 0xf8, 0x77, 0xc3};
void *page;
static __attribute__((noinline, used, section(".text.unlikely"))) void *resolve(void) {
    void *p = mmap(NULL, 4096, 7, 0x22, -1, 0);
    if (p != (void *)-1) memcpy(p, code, sizeof code);
    return p;
}
// R_X86_64_IRELATIVE: what the function at 0x1030 returns is put where `page` lies.
__attribute__((section(".rela.plt"), used, aligned(8))) static const long entry[] = {0x4000, 37, 0x1030};
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    void (*axpy)(double *, const double *, const double *, long) =
        (void (*)(double *, const double *, const double *, long))page;
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++) axpy(C + i * N, B + k * N, &A[i * K + k], 8L * N);
}
