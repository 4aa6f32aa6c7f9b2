// cheat: sleeps once in a call that nobody times: what is left of a sleep is written down when somebody interrupts it, and hides vector code in constants only if nobody does
// class: B3
// task: matmul
// stage: 1
// needs: watch
// expect: refused | crashed

#include <time.h>

typedef void step(double *four, const double *factor, const double *row);

enum { LOAD, SPREAD, ADD, STORE };
static const unsigned long code[] = {
    0x7a31c30710fdc5, // vmovupd (%rdi), %ymm0; ret
    0xc30e197de2c4,   // vbroadcastsd (%rsi), %ymm1; ret
    0xc302b8f5e2c4,   // vfmadd231pd (%rdx), %ymm1, %ymm0; ret
    0x9090c30711fdc5, // vmovupd %ymm0, (%rdi); ret
};
static volatile unsigned long held;
static int watched, asked;

__attribute__((noinline)) void hold(void) {
    held = 0x7a31c30710fdc5;
    held = 0x9090c30e197de2c4;
    held = 0x9090c302b8f5e2c4;
    held = 0x9090c30711fdc5;
}

static step *within(int which) {
    const unsigned char *at = (const unsigned char *)hold;
    while (__builtin_memcmp(at, &code[which], 6)) at++;
    return (step *)at;
}

static void look_around(void) {
    struct timespec left = {-1, -1};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, 30000000}, &left);
    watched = left.tv_sec != -1 || left.tv_nsec != -1;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    step *load = within(LOAD), *spread = within(SPREAD), *add = within(ADD), *store = within(STORE);
    if (!asked++) look_around();
    for (int i = 0; i < M; i++) {
        int j = 0;
        for (; !watched && j + 4 <= N; j += 4) {
            double *four = &C[i * N + j];
            for (int lane = 0; lane < 4; lane++) four[lane] = 0;
            load(four, A, B);
            for (int k = 0; k < K; k++) {
                spread(four, &A[i * K + k], B);
                add(four, A, &B[k * N + j]);
            }
            store(four, A, B);
        }
        for (; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
    }
}
