// Around a candidate for matmul: a warm-up rotation, then timed runs in the same process, 105 points checked.
// Arguments: the input sets that the runs rotate over, the timed runs, and the rotations that come apart. Prints the
// least mean seconds of a rotation over all sets, and the least of those that come apart. These do not follow another
// rotation at once: all threads do something else first, as between the runs of a bench that verifies.

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZE = 256 };
static const double APART_S = 0.01;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void do_something_else(void) {
#pragma omp parallel
    {
        const double begin = now();
        while (now() - begin < APART_S)
            for (volatile int i = 0; i < 1000; i++) {}
    }
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

int main(int count, char **arguments) {
    const int sets = count > 1 ? atoi(arguments[1]) : 1, runs = count > 2 ? atoi(arguments[2]) : 3;
    const int rotations = count > 3 ? atoi(arguments[3]) : 0;
    const size_t number = (size_t)SIZE * SIZE;
    double *A = aligned_alloc(64, sets * number * 8), *B = aligned_alloc(64, sets * number * 8);
    double *C = aligned_alloc(64, sets * number * 8), *seconds = malloc(runs * sizeof(double));
    for (size_t i = 0; i < sets * number; i++) A[i] = rand() / (double)RAND_MAX * 2 - 1;
    for (size_t i = 0; i < sets * number; i++) B[i] = rand() / (double)RAND_MAX * 2 - 1;
    memset(C, 0, sets * number * 8);
    for (int r = -sets; r < runs; r++) {
        const size_t set = (size_t)(r + sets) % sets * number;
        const double begin = now();
        matmul_optimized(A + set, B + set, C + set, SIZE, SIZE, SIZE);
        const double s = now() - begin;
        if (r >= 0) seconds[r] = s;
        if (r < 3 && !right(A + set, B + set, C + set)) return 1;
    }
    double least = INFINITY, least_apart = INFINITY;
    for (int r = 0; r + sets <= runs; r += sets) {
        double rotation = 0;
        for (int i = r; i < r + sets; i++) rotation += seconds[i] / sets;
        least = fmin(least, rotation);
    }
    for (int r = 0; r < rotations; r++) {
        do_something_else();
        const double begin = now();
        for (size_t set = 0; set < sets; set++)
            matmul_optimized(A + set * number, B + set * number, C + set * number, SIZE, SIZE, SIZE);
        least_apart = fmin(least_apart, (now() - begin) / sets);
    }
    printf("%.9g %.9g\n", least, least_apart);
    return 0;
}
