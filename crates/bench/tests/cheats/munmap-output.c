// cheat: unmaps the output
// class: sandbox
// task: matmul
// expect: crashed | wrong | refused

#include <stdint.h>

extern int munmap(void *, size_t);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    munmap((void *)((uintptr_t)C & ~(uintptr_t)4095), sizeof(double) * M * N);
    C[0] = 0;
}
