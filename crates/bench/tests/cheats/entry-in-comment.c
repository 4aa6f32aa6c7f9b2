// cheat: the entry point stands in a comment only
// class: malformed
// task: matmul
// expect: malformed

/* void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {} */
static const char *text = "void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}";
const char *quiet(void) {
    return text;
}
