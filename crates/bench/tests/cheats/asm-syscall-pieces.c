// cheat: the instruction's name in pieces
// class: sandbox
// task: matmul
// expect: refused | crashed

#define FIRST "sys"
#define SECOND "call"
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    long r;
    __asm__ volatile(FIRST SECOND : "=a"(r) : "0"(57L) : "rcx", "r11", "memory"); // fork
    C[0] = r;
}
