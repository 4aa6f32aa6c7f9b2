// cheat: a macro is pushed before it is preprocessed and popped when it is compiled
// class: B3
// task: matmul
// compiler: clang
// stage: 1
// expect: refused | not-compiled

#define plain __attribute__((vector_size(64)))
#pragma push_macro("plain")
#undef plain
#pragma pop_macro("plain")
#pragma push_macro("plain")
#undef plain
#define plain
typedef double Number plain;
#pragma pop_macro("plain")
typedef double Wide plain;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j += 8) {
            Wide s = {0};
            for (int k = 0; k < K; k++) {
                Wide b;
                __builtin_memcpy(&b, B + k * N + j, sizeof b);
                s += A[i * K + k] * b;
            }
            __builtin_memcpy(C + i * N + j, &s, sizeof s);
        }
}
