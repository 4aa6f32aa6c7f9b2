// What a pause between rotations costs: the expert candidate for matmul in a process of its own, one rotation over all
// input sets after the other, with 5 ms of something else between them. Prints the fastest rotation and the median of
// each tenth of a second, in microseconds a call.
//
//   gcc -O3 -march=native -fopenmp crates/bench/benches/rotations.c -lm -o rotations
//   OMP_NUM_THREADS=16 OMP_PROC_BIND=true ./rotations 53 1500

#include "../tests/honest/matmul-avx512-8x24.c"

#include <omp.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 256, ROTATIONS = 100000 };
static const double PAUSE_S = 5e-3, WINDOW_S = 0.1;
static const char *const PAUSES[] = {"none", "counting on all threads", "sleep", "arithmetic on all threads"};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void rest(int pause) {
    if (pause == 2) usleep(1e6 * PAUSE_S);
    if (pause != 1 && pause != 3) return;
#pragma omp parallel
    {
        const double begin = now();
        volatile double product = 1;
        while (now() - begin < PAUSE_S)
            for (volatile int i = 0; i < 1000; i++)
                if (pause == 3) product = product * 1.0000001 + 1e-9;
    }
}

int main(int count, char **arguments) {
    static double begins[ROTATIONS], calls[ROTATIONS];
    const int sets = count > 1 ? atoi(arguments[1]) : 53;
    const double seconds = (count > 2 ? atof(arguments[2]) : 1500) * 1e-3;
    const size_t number = (size_t)SIZE * SIZE;
    double *A = aligned_alloc(64, sets * number * 8), *B = aligned_alloc(64, sets * number * 8);
    double *C = aligned_alloc(64, sets * number * 8);
    for (size_t i = 0; i < sets * number; i++) A[i] = i % 7 - 3.0, B[i] = i % 5 - 2.0, C[i] = 0;
    for (int pause = 0; pause < 4; pause++) {
        int done = 0;
        const double begin = now();
        while (done < ROTATIONS && (begins[done] = now() - begin) < seconds) {
            for (size_t set = 0; set < sets; set++)
                matmul_optimized(A + set * number, B + set * number, C + set * number, SIZE, SIZE, SIZE);
            calls[done] = (now() - begin - begins[done]) / sets * 1e6;
            done++;
            rest(pause);
        }
        printf("%d threads, between rotations %s:", omp_get_max_threads(), PAUSES[pause]);
        for (int from = 0, to = 0; from < done; from = to) {
            while (to < done && begins[to] < begins[from] + WINDOW_S) to++;
            qsort(calls + from, to - from, sizeof *calls, ascending);
            printf(" %.0f/%.0f", calls[from], calls[(from + to) / 2]);
        }
        puts("");
    }
    return 0;
}
