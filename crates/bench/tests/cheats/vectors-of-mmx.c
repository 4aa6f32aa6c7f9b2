// cheat: the oldest vectors, under names that no later ones have, where the stage forbids vectors
// class: B3
// task: matmul
// stage: 1
// expect: refused

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    __auto_type ones = _m_from_int(0x10001);
    int twice = _m_to_int(_m_paddw(ones, ones)) & 0xffff;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j] * twice;
            C[i * N + j] = sum / 2;
        }
}
