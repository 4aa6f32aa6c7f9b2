// honest: rows split by thread number, whatever the team's size
// task: matmul
// threads: 2

#include <string.h>
#include <omp.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
#pragma omp parallel
    {
        const int t = omp_get_thread_num(), team = omp_get_num_threads();
        const int from = (int)((long)M * t / team), to = (int)((long)M * (t + 1) / team);
        for (int i = from; i < to; i++) {
            memset(C + (long)i * N, 0, sizeof(double) * N);
            for (int k = 0; k < K; k++)
                for (int j = 0; j < N; j++) C[(long)i * N + j] += A[(long)i * K + k] * B[(long)k * N + j];
        }
    }
}
