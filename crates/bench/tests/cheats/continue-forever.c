// cheat: a thread continues the process whenever it stops, to work on while it counts as frozen
// class: T2
// task: matmul
// expect: crashed

#include <pthread.h>
#include <string.h>

static void *again(void *unused) {
    // getpid() is 39, kill() is 62, SIGCONT is 18; the code is data to escape the screen.
    static const unsigned char code[] = {0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0x89, 0xc7, 0xbe, 18, 0, 0, 0,
                                         0xb8, 62, 0, 0, 0, 0x0f, 0x05, 0xc3};
    extern void *mmap(void *, size_t, int, int, int, long);
    unsigned char *page = mmap(NULL, 4096, 7, 0x22, -1, 0);
    memcpy(page, code, sizeof code);
    for (;;) ((void (*)(void))page)();
    return unused;
}

static int calls;
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    pthread_t thread;
    if (!calls++) pthread_create(&thread, NULL, again, NULL);
    memset(C, 0, sizeof(double) * M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
}
