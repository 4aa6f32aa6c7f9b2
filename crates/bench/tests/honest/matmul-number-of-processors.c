// honest: asks how many processors there are, in the ways of several manuals
// task: matmul

#include <sched.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    int most = get_nprocs_conf() > get_nprocs() ? get_nprocs_conf() : get_nprocs();
    cpu_set_t *mine = CPU_ALLOC(most > 1024 ? most : 1024);
    size_t bytes = CPU_ALLOC_SIZE(most > 1024 ? most : 1024);
    CPU_ZERO_S(bytes, mine);
    int count = sched_getaffinity(0, bytes, mine) == 0 ? CPU_COUNT_S(bytes, mine) : 1;
    CPU_FREE(mine);
    int block = count > 0 ? 64 : 32;
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) C[i * N + j] = 0;
        for (int first = 0; first < K; first += block)
            for (int k = first; k < K && k < first + block; k++)
                for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];
    }
}
