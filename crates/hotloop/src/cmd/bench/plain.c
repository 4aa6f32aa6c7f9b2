// Around a candidate for matmul: one warm-up, then three timed runs in the same process, 105 points checked each time.
// Prints the mean seconds of a run.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZE = 256, RUNS = 3 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int right(const double *A, const double *B, const double *C) {
    for (int p = 0; p < 105; p++) {
        const int i = p < 4 ? (p / 2) * (SIZE - 1) : p == 4 ? SIZE / 2 : rand() % SIZE;
        const int j = p < 4 ? (p % 2) * (SIZE - 1) : p == 4 ? SIZE / 2 : rand() % SIZE;
        double want = 0;
        for (int k = 0; k < SIZE; k++) want += A[i * SIZE + k] * B[k * SIZE + j];
        if (!(fabs(C[i * SIZE + j] - want) <= 1e-6 * (fabs(want) + 1e-6))) return 0;
    }
    return 1;
}

int main(void) {
    const size_t number = (size_t)SIZE * SIZE;
    double *A = aligned_alloc(64, number * 8), *B = aligned_alloc(64, number * 8), *C = aligned_alloc(64, number * 8);
    for (size_t i = 0; i < number; i++) A[i] = rand() / (double)RAND_MAX * 2 - 1;
    for (size_t i = 0; i < number; i++) B[i] = rand() / (double)RAND_MAX * 2 - 1;
    memset(C, 0, number * 8);
    double sum = 0;
    for (int r = -1; r < RUNS; r++) {
        const double begin = now();
        matmul_optimized(A, B, C, SIZE, SIZE, SIZE);
        if (r >= 0) sum += now() - begin;
        if (!right(A, B, C)) return 1;
    }
    printf("%.9g\n", sum / RUNS);
    return 0;
}
