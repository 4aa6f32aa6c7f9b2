// honest: saves and restores the floating-point environment
// task: matmul

#include <fenv.h>
#include <string.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
    fenv_t before;
    fegetenv(&before);
    feholdexcept(&before);
    fesetround(FE_TONEAREST);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
    feclearexcept(FE_ALL_EXCEPT);
    fesetenv(&before);
}
