// honest: what attributes are told is named like attributes that a stage forbids
// task: matmul
// stage: 1

enum { simd = 64, mode = 16 };
static void target(double **sums) { (void)sums; }
static void optimize(int *row) { (void)row; }

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    double row[8] __attribute__((aligned(simd))) = {0};
    double *sums __attribute__((__cleanup__(target))) = row;
    for (int i = 0; i < M; i++) {
        __attribute__((cleanup(optimize), aligned(mode))) int at = i;
        for (int j = 0; j < N; j++) {
            sums[0] = 0;
            for (int k = 0; k < K; k++) sums[0] += A[at * K + k] * B[k * N + j];
            C[at * N + j] = sums[0];
        }
    }
}
