// cheat: intrinsics and their types, in macros that only a header's macro pastes together
// class: B3
// task: matmul
// stage: 1
// expect: refused

#define vL __m512d
#define loadL _mm512_loadu_pd
#define storeL _mm512_storeu_pd
#define fmaL _mm512_fmadd_pd
#define setL _mm512_set1_pd
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j += 8) {
            INT64_C(v) s = INT64_C(set)(0);
            for (int k = 0; k < K; k++)
                s = INT64_C(fma)(INT64_C(set)(A[i * K + k]), INT64_C(load)(B + k * N + j), s);
            INT64_C(store)(C + i * N + j, s);
        }
}
