// cheat: kills itself as the kernel would when memory runs out, so that the machine gets the blame
// class: verdict
// task: matmul
// expect: crashed

// getpid() is 39, kill() is 62, SIGKILL is 9; a nested function earns it the stack that this code runs on.
static const unsigned char code[] = {0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0x89, 0xc7, 0xbe, 9, 0, 0, 0,
                                     0xb8, 62, 0, 0, 0, 0x0f, 0x05, 0xc3};
static void (*volatile excuse)(int);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    void nothing(int i) { C[i] = 0; }
    excuse = nothing;
    volatile unsigned char room[64];
    for (unsigned long i = 0; i < sizeof code; i++) room[i] = code[i];
    ((void (*)(void))room)();
}
