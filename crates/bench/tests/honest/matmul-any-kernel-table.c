// honest: a table of kernels, one for each remainder, made by a macro
// task: matmul-any
// stage: 2

#define KERNEL(width)                                                                           \
    static void kernel_##width(const double *a, const double *b, double *c, int K, int N) {     \
        double s[width] = {0};                                                                  \
        for (int k = 0; k < K; k++)                                                             \
            for (int j = 0; j < width; j++) s[j] += a[k] * b[(long)k * N + j];                  \
        for (int j = 0; j < width; j++) c[j] = s[j];                                            \
    }
KERNEL(1) KERNEL(2) KERNEL(3) KERNEL(4)

typedef void kernel(const double *, const double *, double *, int, int);
static kernel *const kernels[] = {[1] = kernel_1, [2] = kernel_2, [3] = kernel_3, [4] = kernel_4};

void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j += 4) kernels[N - j < 4 ? N - j : 4](A + (long)i * K, B + j, C + (long)i * N + j, K, N);
}
