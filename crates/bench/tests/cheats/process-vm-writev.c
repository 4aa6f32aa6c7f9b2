// cheat: writes its supervisor's memory
// class: T5
// task: matmul
// expect: refused

#include <unistd.h>

extern ssize_t process_vm_writev(pid_t, const void *, unsigned long, const void *, unsigned long, unsigned long);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    struct { void *p; size_t n; } here = {C, 8}, there = {C, 8};
    process_vm_writev(getppid(), &here, 1, &there, 1, 0);
}
