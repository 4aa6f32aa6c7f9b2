// cheat: a system call number of the x32 ABI
// class: sandbox
// task: matmul
// expect: refused | crashed

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "0"(0x40000000L + 57) : "rcx", "r11", "memory");
    C[0] = r;
}
