// honest: halves the longer side until it is small
// task: transpose

static void flip(const double *in, double *out, int m, int n, int M, int N) {
    if (m <= 8 && n <= 8) {
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) out[(long)j * M + i] = in[(long)i * N + j];
    } else if (m >= n) {
        flip(in, out, m / 2, n, M, N);
        flip(in + (long)(m / 2) * N, out + m / 2, m - m / 2, n, M, N);
    } else {
        flip(in, out, m, n / 2, M, N);
        flip(in + n / 2, out + (long)(n / 2) * M, m, n - n / 2, M, N);
    }
}

void transpose(double *in, double *out, int M, int N) {
    flip(in, out, M, N, M, N);
}
