// honest: scratch from mmap, kept for later calls
// task: matmul

#include <stdlib.h>

extern void *mmap(void *, size_t, int, int, int, long);
static double *scratch;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    if (!scratch) {
        void *p = mmap(NULL, sizeof(double) * 256 * 256, 3, 0x22, -1, 0); // read and write; private, anonymous
        if (p == (void *)-1) abort();
        scratch = p;
    }
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) scratch[j * K + k] = B[k * N + j];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++) sum += A[i * K + k] * scratch[j * K + k];
            C[i * N + j] = sum;
        }
}
