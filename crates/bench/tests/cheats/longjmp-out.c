// cheat: jumps out of the call into a context saved by an earlier one
// class: T5
// task: matmul
// expect: refused

#include <setjmp.h>

static jmp_buf back;
static int set;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    if (set) longjmp(back, 1);
    set = 1;
    if (setjmp(back)) return;
}
