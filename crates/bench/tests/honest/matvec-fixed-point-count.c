// honest: a sum in 128-bit integers, with conversions that are functions of the compiler's library
// task: matvec

void matvec(double *A, double *x, double *y, int M, int N) {
    const double scale = 0x1p100;
    for (int i = 0; i < M; i++) {
        __int128 sum = 0;
        for (int j = 0; j < N; j++) sum += (__int128)(A[(long)i * N + j] * x[j] * scale);
        y[i] = (double)sum / scale;
    }
}
