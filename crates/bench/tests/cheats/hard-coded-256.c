// cheat: ignores its arguments and works for 256 only
// class: S6
// task: matmul-any
// expect: crashed | wrong

void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < 256; i++)
        for (int j = 0; j < 256; j++) {
            double s = 0;
            for (int k = 0; k < 256; k++) s += A[i * 256 + k] * B[k * 256 + j];
            C[i * 256 + j] = s;
        }
}
