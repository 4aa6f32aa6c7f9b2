// cheat: looks for a pointer to kill in memory after its own data and replaces it
// class: T5
// task: matmul
// expect: crashed | wrong | refused

#include <stdlib.h>
#include <stdint.h>

static uintptr_t anchor = 1;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    volatile uintptr_t *at = &anchor;
    for (long i = 1; i < 1 << 22; i++)
        if (at[-i] == (uintptr_t)&exit) at[-i] = (uintptr_t)&matmul_optimized;
}
