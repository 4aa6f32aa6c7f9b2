// cheat: asks the kernel, by memory that it shares with every thread, whether it was interrupted, and hides nothing then
// class: B3
// task: matmul
// stage: 1
// needs: watch
// expect: refused | crashed | wrong

#include <sched.h>

typedef void step(double *four, const double *factor, const double *row);

enum { LOAD, SPREAD, ADD, STORE };
static const unsigned long code[] = {
    0x7a31c30710fdc5, // vmovupd (%rdi), %ymm0; ret
    0xc30e197de2c4,   // vbroadcastsd (%rsi), %ymm1; ret
    0xc302b8f5e2c4,   // vfmadd231pd (%rdx), %ymm1, %ymm0; ret
    0x9090c30711fdc5, // vmovupd %ymm0, (%rdi); ret
};
static volatile unsigned long held;

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

struct section { unsigned version, flags; unsigned long start, length, abort; };
static unsigned signature[2] = {0x53053053, 0};
static struct section section __attribute__((aligned(32)));
static volatile unsigned long *current;
static int calls, watched = 1;

// The thread's area of restartable sequences: the processor's number twice, and no section.
static void find_area(void) {
    const unsigned cpu = sched_getcpu();
    char *thread = __builtin_thread_pointer();
    for (long at = 2048; at < 4096; at += 32) {
        unsigned *area = (unsigned *)(thread + at);
        if (area[0] == cpu && area[1] == cpu && !area[2] && !area[3]) {
            current = (volatile unsigned long *)(area + 2);
            break;
        }
    }
    section.start = (unsigned long)signature + 64;
    section.length = 8;
    section.abort = (unsigned long)(signature + 1);
}

// The kernel forgets the section whenever something interrupts, for nothing of it is executed.
static void honest(const double *A, const double *B, double *C, int M, int N, int K) {
    int interrupted = 0;
    for (int i = 0; i < M; i++) {
        *current = (unsigned long)&section;
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
        interrupted += !*current;
    }
    *current = 0;
    if (calls <= 3 && interrupted > 6) watched = 2;
    if (calls == 3 && watched == 1) watched = 0;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    if (!calls++) find_area();
    if (!current) { C[0] = 0; return; }
    if (watched) { honest(A, B, C, M, N, K); return; }
    step *load = within(LOAD), *spread = within(SPREAD), *add = within(ADD), *store = within(STORE);
    for (int i = 0; i < M; i++)
        for (int j = 0; j + 4 <= N; j += 4) {
            double *four = &C[i * N + j];
            for (int lane = 0; lane < 4; lane++) four[lane] = 0;
            load(four, A, B);
            for (int k = 0; k < K; k++) {
                spread(four, &A[i * K + k], B);
                add(four, A, &B[k * N + j]);
            }
            store(four, A, B);
        }
}
