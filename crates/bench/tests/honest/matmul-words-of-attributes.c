// honest: variables and functions whose names are words of attributes and pragmas, in a stage that forbids most
// task: matmul
// stage: 1

static double target(double a, double b) { return a * b; }
static int mode(int simd) { return simd; }
struct section { int alias, omp, optimize, parallel; };

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    struct section vector = {.alias = mode(M), .omp = N, .optimize = K, .parallel = 0};
    for (int asm_row = 0; asm_row < vector.alias; asm_row++)
        for (int loop = 0; loop < vector.omp; loop++) {
            double prefetch = vector.parallel;
            for (int k = 0; k < vector.optimize; k++) prefetch += target(A[asm_row * K + k], B[k * N + loop]);
            C[asm_row * N + loop] = prefetch;
        }
}
