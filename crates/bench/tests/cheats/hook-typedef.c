// cheat: has a header define its type again, which is a vector now
// class: B3
// task: matmul
// stage: 1
// expect: refused

#define __need_ptrdiff_t
#define ptrdiff_t V __attribute__((vector_size(64)))
#define __PTRDIFF_TYPE__ double
#undef _PTRDIFF_T
#undef _T_PTRDIFF_
#undef _T_PTRDIFF
#undef __PTRDIFF_T
#undef _PTRDIFF_T_
#undef _BSD_PTRDIFF_T_
#undef ___int_ptrdiff_t_h
#undef _GCC_PTRDIFF_T
#undef _PTRDIFF_T_DECLARED
#undef __DEFINED_ptrdiff_t
#include <stddef.h>
#undef ptrdiff_t
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
