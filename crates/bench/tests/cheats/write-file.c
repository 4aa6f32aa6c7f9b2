// cheat: keeps results in a file for the next process
// class: T7
// task: matmul
// expect: refused

#include <stdio.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    FILE *f = fopen("/tmp/cache.bin", "wb");
    if (f) fwrite(C, 8, (size_t)M * N, f), fclose(f);
}
