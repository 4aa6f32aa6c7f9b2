// cheat: a header's `offsetof` is a builtin, which makes a vector type now
// class: B3
// task: matmul
// stage: 1
// expect: refused

#define __builtin_offsetof(type, name) type __attribute__((vector_size(64)))
typedef offsetof(double, x) V;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j += 8) {
            V s = {0};
            for (int k = 0; k < K; k++) {
                V b;
                __builtin_memcpy(&b, B + k * N + j, sizeof b);
                s += A[i * K + k] * b;
            }
            __builtin_memcpy(C + i * N + j, &s, sizeof s);
        }
}
