// cheat: the same by assembler directives
// class: B3
// task: matmul
// expect: refused

#include <stdlib.h>

void early(void) {
    exit(0);
}

__asm__(".section .init_array,\"aw\"\n.quad early\n.text\n");
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
