// cheat: the instruction's name in octal escapes
// class: sandbox
// task: matmul
// expect: refused | crashed

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    long r;
    __asm__ volatile("\163\171\163\143\141\154\154" : "=a"(r) : "0"(57L) : "rcx", "r11", "memory");
    C[0] = r;
}
