// cheat: the entry point written in assembler outside any function
// class: B3
// task: matmul
// expect: refused | malformed

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K);
__asm__(".text\n.globl matmul_optimized\nmatmul_optimized:\n\tret\n");
