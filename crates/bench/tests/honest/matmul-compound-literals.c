// honest: views of rows as compound literals, passed by value and by address
// task: matmul

typedef struct { const double *at; int stride, count; } strided;

static double dot(const strided *a, strided b) {
    double sum = 0;
    for (int k = 0; k < a->count; k++) sum += a->at[k * a->stride] * b.at[k * b.stride];
    return sum;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            C[i * N + j] = dot(&(strided){A + i * K, 1, K}, (strided){.at = B + j, .stride = N, .count = K});
}
