// honest: a loop unrolled by a switch that falls through
// task: matmul-any

static double dot(const double *a, const double *b, int stride, int n) {
    double s = 0;
    int k = 0;
    switch (n % 4) {
    case 3: s += a[k] * b[(long)k * stride], k++; /* fall through */
    case 2: s += a[k] * b[(long)k * stride], k++; /* fall through */
    case 1: s += a[k] * b[(long)k * stride], k++;
    }
    for (; k < n; k += 4)
        s += (a[k] * b[(long)k * stride] + a[k + 1] * b[(long)(k + 1) * stride]) + (a[k + 2] * b[(long)(k + 2) * stride] + a[k + 3] * b[(long)(k + 3) * stride]);
    return s;
}

void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) C[(long)i * N + j] = dot(A + (long)i * K, B + j, N, K);
}
