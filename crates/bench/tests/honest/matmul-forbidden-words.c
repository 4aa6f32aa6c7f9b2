// honest: forbidden words in comments and strings only: cblas_dgemm, #include <cblas.h>
// task: matmul

#include <stdlib.h>

/* Faster than cblas_dgemm(...)? No system("..."), no fork(), no dlopen, no asm("syscall").
#include <cblas.h>

   #pragma GCC optimize("Ofast") */
// extern void dgemm_(); \
   execve(); still a comment
static const char *const note = "system(\"ls\"); #include <cblas.h> cblas_dgemm getenv /* not a comment";
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    int opening = note[0] == 's', forked = 0, system_size = N, clone_of_k = K; // signal, socket
    for (int i = 0; i < M; i++)
        for (int j = 0; j < system_size; j++) {
            double sum = forked * opening;
            for (int k = 0; k < clone_of_k; k++) sum += A[i * K + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
}
