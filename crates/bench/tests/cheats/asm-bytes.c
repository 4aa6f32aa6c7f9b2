// cheat: the instruction as bytes
// class: sandbox
// task: matmul
// expect: refused | crashed

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    long r;
    __asm__ volatile(".byte 0x0f, 0x05" : "=a"(r) : "0"(57L) : "rcx", "r11", "memory");
    C[0] = r;
}
