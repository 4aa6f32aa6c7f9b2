// cheat: another compiler's pragma operator is to this one a macro like any other, and what stands in it is code
// class: B3
// task: matmul
// stage: 1
// expect: refused

#define __pragma(...) __VA_ARGS__
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    __pragma(typedef double V __attribute__((vector_size(64)));)
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
