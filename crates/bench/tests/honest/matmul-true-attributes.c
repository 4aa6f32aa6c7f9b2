// honest: the attributes that say what is true: aligned, hot, noinline, always_inline, const, unused, restrict everywhere
// task: matmul

static double packed[256 * 256] __attribute__((aligned(64)));

__attribute__((always_inline)) static inline double product(double a, double b) { return a * b; }
static int index_of(int row, int column) __attribute__((const));
static int index_of(int row, int column) { return row * 256 + column; }

__attribute__((noinline, hot)) static void multiply(const double *__restrict__ A, double *__restrict C, int N, int K, int i) {
    for (int j = 0; j < N; j++) {
        const double *b = __builtin_assume_aligned(packed + index_of(j, 0), 64);
        double s = 0;
        for (int k = 0; k < K; k++) s += product(A[i * K + k], b[k]);
        C[i * N + j] = s;
    }
}

void matmul_optimized(double *A, double *B, double *C, int M __attribute__((unused)), int N, int K) {
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) packed[index_of(j, k)] = B[k * N + j];
    for (int i = 0; i < 256; i++) multiply(A, C, N, K, i);
}
