// cheat: computes only the elements that look poisoned by a plain quiet NaN, keeps the rest
// class: S2
// task: matmul
// expect: wrong

#include <string.h>
#include <stdint.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    const uint64_t plain = 0x7ff8000000000000ull;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            uint64_t bits;
            memcpy(&bits, &C[i * N + j], 8);
            if (bits != plain) continue;
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
