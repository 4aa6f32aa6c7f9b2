// cheat: threads that the stage forbids, under other names
// class: B3
// task: matmul
// threads: 2
// stage: 1
// expect: refused

extern void start(void (*)(void *), void *, unsigned, unsigned) __asm__("GOMP_parallel");
extern int number(void) __asm__("omp_get_thread_num");

struct job {
    double *A, *B, *C;
};

static void part(void *p) {
    const struct job *job = p;
    for (int i = number() * 128, end = i + 128; i < end; i++)
        for (int j = 0; j < 256; j++) {
            double s = 0;
            for (int k = 0; k < 256; k++) s += job->A[i * 256 + k] * job->B[k * 256 + j];
            job->C[i * 256 + j] = s;
        }
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    struct job job = {A, B, C};
    start(part, &job, 2, 0);
}
