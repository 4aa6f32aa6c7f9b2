// cheat: a raw system call (socket)
// class: sandbox
// task: matmul
// expect: refused | crashed

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "0"(41L), "D"(2L), "S"(1L), "d"(0L) : "rcx", "r11", "memory");
    C[0] = r;
}
