// cheat: opens a file under another name for open
// class: sandbox
// task: matmul
// expect: refused

extern int helper(const char *, int, ...) __asm__("open64");
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    C[0] = helper("/etc/passwd", 0);
}
