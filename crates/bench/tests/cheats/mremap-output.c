// cheat: moves the output elsewhere
// class: sandbox
// task: matmul
// expect: refused | crashed | wrong

#include <stdint.h>

extern void *mremap(void *, size_t, size_t, int, ...);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    char *page = (char *)((uintptr_t)C & ~(uintptr_t)4095);
    mremap(page, sizeof(double) * M * N, sizeof(double) * M * N, 1 | 4, NULL);
}
