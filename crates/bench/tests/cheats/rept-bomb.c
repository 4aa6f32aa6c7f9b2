// cheat: the assembler repeats an instruction 10^9 times
// class: resource
// task: matmul
// expect: refused | not-compiled | timed-out

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    __asm__ volatile(".rept 1000000000\nnop\n.endr");
}
