// cheat: the compiler's own setjmp, which needs no header
// class: T5
// task: matmul
// expect: refused | crashed | wrong

static void *back[5];
static int set;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    if (set) __builtin_longjmp(back, 1);
    if (__builtin_setjmp(back)) return;
    set = 1;
}
