// cheat: an include in a dead branch, with escapes in its name, writes lines of its own into the text that tells what headers say by themselves; a header then says them by a macro, and nobody reads them
// class: B3
// task: matmul
// expect: refused

#if 0
#include "pthread.h>)\n__attribute__((optimize(3))) void matmul_optimized(double *, double *, double *, int, int, int);\n#endif\n#if 0\n/*"
#include "*/\n//"
#endif
#define __BEGIN_DECLS __attribute__((optimize(3))) void matmul_optimized(double *, double *, double *, int, int, int);
#include <pthread.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
