// honest: a loop of tasks over strips
// task: transpose
// threads: 2
// stage: 4

void transpose(double *in, double *out, int M, int N) {
    _Pragma("omp parallel")
    _Pragma("omp single")
    {
#pragma omp taskloop grainsize(1) firstprivate(in, out, M, N)
        for (int from = 0; from < N; from += 32)
            for (int i = 0; i < M; i++)
                for (int j = from; j < from + 32 && j < N; j++) out[(long)j * M + i] = in[(long)i * N + j];
    }
}
