// cheat: the old 32-bit gate
// class: sandbox
// task: matmul
// expect: refused | crashed

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    int r;
    __asm__ volatile("int $0x80" : "=a"(r) : "0"(2) : "memory"); // fork
    C[0] = r;
}
