// cheat: four arguments, single precision
// class: malformed
// task: matmul
// expect: malformed | refused | not-compiled | wrong | crashed

void matmul_optimized(float *A, float *B, float *C, int N) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float s = 0;
            for (int k = 0; k < N; k++) s += A[i * N + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
