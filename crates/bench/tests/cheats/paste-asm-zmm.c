// cheat: vector registers in assembly that only a header's macro pastes together
// class: B3
// task: matmul
// stage: 1
// expect: refused

#define vL __asm__ volatile
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j += 8) {
            INT64_C(v)("vxorpd %%ymm0, %%ymm0, %%ymm0; vxorpd %%ymm1, %%ymm1, %%ymm1" : : : "xmm0", "xmm1");
            for (int k = 0; k < K; k++)
                INT64_C(v)("vbroadcastsd (%0), %%ymm2; vfmadd231pd (%1), %%ymm2, %%ymm0; vfmadd231pd 32(%1), %%ymm2, %%ymm1"
                           : : "r"(A + i * K + k), "r"(B + k * N + j) : "xmm0", "xmm1", "xmm2", "memory");
            INT64_C(v)("vmovupd %%ymm0, (%0); vmovupd %%ymm1, 32(%0)" : : "r"(C + i * N + j) : "memory");
        }
}
