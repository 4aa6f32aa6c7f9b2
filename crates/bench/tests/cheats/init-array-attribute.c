// cheat: a pointer in .init_array by the section attribute
// class: B3
// task: matmul
// expect: refused

#include <stdlib.h>

static void early(void) {
    exit(0);
}

__attribute__((section(".init_array"), used)) static void (*const entry)(void) = early;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
