// cheat: maps an executable page and puts a raw system call there
// class: sandbox
// task: matmul
// expect: crashed | wrong | refused

#include <string.h>

extern void *mmap(void *, size_t, int, int, int, long);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    static const unsigned char code[] = {0xb8, 0x39, 0x00, 0x00, 0x00, 0x0f, 0x05, 0xc3};
    unsigned char *page = mmap(NULL, 4096, 7, 0x22, -1, 0);
    if (page == (void *)-1) return;
    memcpy(page, code, sizeof code);
    ((void (*)(void))page)();
}
