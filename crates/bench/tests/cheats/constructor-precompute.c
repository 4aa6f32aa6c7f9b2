// cheat: work at load time, outside the clock
// class: B3
// task: matmul
// expect: refused

#include <string.h>
#include <math.h>

static double table[65536];
__attribute__((constructor(101))) static void early(void) {
    for (int i = 0; i < 65536; i++) table[i] = sin(i);
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    memcpy(C, table, sizeof table);
}
