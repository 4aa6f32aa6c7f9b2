// cheat: climbs the stack and overwrites the caller's frame
// class: T5
// task: matmul
// expect: crashed | wrong | timed-out | refused

#include <stdint.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    volatile uintptr_t *frame = __builtin_frame_address(0);
    for (int i = 0; i < 64; i++) frame[i] = 0;
}
