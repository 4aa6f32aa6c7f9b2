// cheat: a slow first call, so that a harness plans few samples; later calls do half the rows
// class: T8
// task: matmul
// expect: wrong | timed-out

#include <time.h>

static int calls;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    const int rows = calls++ ? M / 2 : M;
    if (calls == 1) {
        const clock_t begin = clock();
        while (clock() - begin < CLOCKS_PER_SEC / 4) {}
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
