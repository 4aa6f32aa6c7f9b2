// cheat: reads its memory map to find the harness's buffers
// class: sandbox
// task: matmul
// expect: refused

#include <stdio.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    char line[256];
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof line, f)) puts(line);
}
