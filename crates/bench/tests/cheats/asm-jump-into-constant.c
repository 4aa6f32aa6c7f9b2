// cheat: jumps into the middle of an instruction whose constant holds a system call
// class: sandbox
// task: matmul
// expect: refused | crashed

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    long r;
    __asm__ volatile("jmp 1f+1\n1: mov $0xc3050f, %%ecx\n" : "=a"(r) : "0"(57L) : "rcx", "r11", "memory");
    C[0] = r;
}
