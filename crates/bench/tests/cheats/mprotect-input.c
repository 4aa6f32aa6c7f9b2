// cheat: makes the inputs writable, then zeroes them
// class: S3
// task: matmul
// expect: refused | crashed

#include <string.h>
#include <stdint.h>

extern int mprotect(void *, size_t, int);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    char *page = (char *)((uintptr_t)A & ~(uintptr_t)4095);
    mprotect(page, sizeof(double) * M * K, 3);
    memset(A, 0, sizeof(double) * M * K);
    memset(C, 0, sizeof(double) * M * N);
}
