// cheat: writes over its own machine code
// class: T5
// task: matmul
// expect: crashed

#include <stdint.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    volatile unsigned char *code = (unsigned char *)(uintptr_t)&matmul_optimized;
    code[0] = 0xc3;
}
