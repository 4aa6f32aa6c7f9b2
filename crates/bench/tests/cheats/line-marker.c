// cheat: claims to be a system header, where rules are looser
// class: B3
// task: matmul
// expect: malformed

#include <string.h>

# 1 "/usr/include/stdlib.h" 1 3 4
#pragma GCC system_header
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memset(C, 0, sizeof(double) * M * N);
}
