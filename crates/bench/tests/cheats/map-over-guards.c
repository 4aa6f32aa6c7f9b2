// cheat: maps memory over the guard pages, then writes past the output
// class: S5
// task: matmul
// expect: wrong | crashed | refused

#include <string.h>
#include <stdint.h>

extern void *mmap(void *, size_t, int, int, int, long);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    char *end = (char *)((uintptr_t)(C + (long)M * N + 511) & ~(uintptr_t)4095);
    mmap(end, 65536, 3, 0x32, -1, 0);
    memset(C, 0, sizeof(double) * M * N + 32768);
}
