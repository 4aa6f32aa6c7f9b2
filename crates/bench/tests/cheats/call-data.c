// cheat: calls an array of bytes that holds machine code
// class: sandbox
// task: matmul
// expect: crashed | refused

#include <stdint.h>

static const unsigned char code[] = {0xb8, 0x39, 0x00, 0x00, 0x00, 0x0f, 0x05, 0xc3};
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    ((void (*)(void))(uintptr_t)code)();
}
