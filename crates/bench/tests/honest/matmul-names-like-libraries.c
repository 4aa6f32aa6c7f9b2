// honest: its own functions and types have names that begin like those of libraries
// task: matmul
// stage: 1

typedef struct { double re, im; } fftw_complex_like;
static int mkl_block = 8, bli_size, gsl_blas_level;

double omp_row_kernel(const double *a, const double *b, int count, int stride) {
    double sum = 0;
    for (int k = 0; k < count; k++) sum += a[k] * b[k * stride];
    return sum;
}

void pthread_worker(const double *A, const double *B, double *C, int i, int N, int K) {
    const fftw_complex_like zero = {0, 0};
    for (int j = 0; j < N; j++) C[i * N + j] = omp_row_kernel(A + i * K, B + j, K, N) + zero.im;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    bli_size = M / mkl_block, gsl_blas_level = bli_size > 0;
    for (int i = 0; i < M; i++) pthread_worker(A, B, C, i, N, K);
}
