// cheat: a function of a million statements, nothing of which is right
// class: resource
// task: matmul
// expect: timed-out | not-compiled | wrong | refused

#define S0 *p = *q++ * a + *p; p++;
#define S1 S0 S0 S0 S0 S0 S0 S0 S0 S0 S0
#define S2 S1 S1 S1 S1 S1 S1 S1 S1 S1 S1
#define S3 S2 S2 S2 S2 S2 S2 S2 S2 S2 S2
#define S4 S3 S3 S3 S3 S3 S3 S3 S3 S3 S3
#define S5 S4 S4 S4 S4 S4 S4 S4 S4 S4 S4
#define S6 S5 S5 S5 S5 S5 S5 S5 S5 S5 S5
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    double *p = C, *q = A, a = B[0];
    if (M == 0) { S6 }
}
