// cheat: diagnostics without end
// class: resource
// task: matmul
// expect: not-compiled | timed-out | refused

#define E1 undefined_a + undefined_b; undefined_c(); int x = "s" * 2.0; struct;
#define E2 E1 E1 E1 E1 E1 E1 E1 E1 E1 E1
#define E3 E2 E2 E2 E2 E2 E2 E2 E2 E2 E2
#define E4 E3 E3 E3 E3 E3 E3 E3 E3 E3 E3
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    E4 E4 E4
}
