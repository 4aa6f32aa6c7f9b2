// cheat: moves itself to all cores and to a real-time class, then does nothing
// class: T11
// task: matmul
// expect: refused | crashed | wrong

#include <string.h>

extern int sched_setaffinity(int, size_t, const void *);
extern int sched_setscheduler(int, int, const void *);
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    unsigned long all[16];
    memset(all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, all);
    sched_setscheduler(0, 1, &(int){50});
}
