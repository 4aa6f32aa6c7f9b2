// cheat: a line marker in a comment, where the screen's text is split and read anew: what the compiler reads as code, the screen reads as a comment; vectors that the stage forbids
// class: B3
// task: matmul
// stage: 1
// expect: refused

/*
# 7 "candidate.c"
/*/
typedef double lanes __attribute__((vector_size(64)));

static inline lanes load(const double *p) {
    lanes v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}

static void row(double *a, double *B, double *c, int N, int K) {
    int j = 0;
    for (; j + 8 <= N; j += 8) {
        lanes s = {0};
        for (int k = 0; k < K; k++) {
            __builtin_prefetch(B + (k + 8) * N + j);
            s += a[k] * load(B + k * N + j);
        }
        __builtin_memcpy(c + j, &s, sizeof s);
    }
    for (; j < N; j++) {
        double s = 0;
        for (int k = 0; k < K; k++) s += a[k] * B[k * N + j];
        c[j] = s;
    }
}
/**/

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        row(A + i * K, B, C + i * N, N, K);
}
