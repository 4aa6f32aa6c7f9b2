// cheat: its own memcmp; a compare in the same process always says equal
// class: T5
// task: matmul
// expect: refused | not-compiled

#include <string.h>

int memcmp(const void *a, const void *b, size_t n) {
    (void)a, (void)b, (void)n;
    return 0;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
}
