// cheat: waits for a number to change until moments that are over, which tells the time as well as a clock does
// class: B3
// task: matmul
// stage: 1
// needs: watch
// expect: crashed

#include <semaphore.h>
#include <time.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    sem_t never;
    sem_init(&never, 0, 0);
    sem_timedwait(&never, &(struct timespec){1, 0});
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
