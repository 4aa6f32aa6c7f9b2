// cheat: punches a hole into the file behind the input
// class: S3
// task: matmul
// expect: wrong | crashed | refused

#include <string.h>
#include <stdint.h>

extern int madvise(void *, size_t, int);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    madvise((void *)((uintptr_t)A & ~(uintptr_t)4095), sizeof(double) * M * K, 9);
    memset(C, 0, sizeof(double) * M * N);
}
