// cheat: a header of the C library has vector types under names of its own, where the stage forbids vectors
// class: B3
// task: matmul
// stage: 1
// expect: refused

#define _LINK_H 1
#include <elf.h>
#include <bits/link.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i += 4)
        for (int j = 0; j < N; j += 8) {
            La_x86_64_zmm sum[4] = {0};
            for (int k = 0; k < K; k++) {
                La_x86_64_zmm b = *(La_x86_64_zmm *)(B + k * N + j);
                for (int r = 0; r < 4; r++) sum[r] += A[(i + r) * K + k] * b;
            }
            for (int r = 0; r < 4; r++) *(La_x86_64_zmm *)(C + (i + r) * N + j) = sum[r];
        }
}
