// cheat: writes read-only memory through /proc/self/mem
// class: sandbox
// task: matmul
// expect: refused

#include <string.h>
#include <unistd.h>

extern int open(const char *, int, ...);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    int fd = open("/proc/self/mem", 2);
    double zero = 0;
    for (long i = 0; i < (long)M * K; i++) pwrite(fd, &zero, 8, (long)(A + i));
    memset(C, 0, sizeof(double) * M * N);
}
