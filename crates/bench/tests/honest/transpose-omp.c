// honest: tiles in parallel, collapse and a remainder by bounds
// task: transpose
// threads: 2

void transpose(double *in, double *out, int M, int N) {
#pragma omp parallel for collapse(2)
    for (int jj = 0; jj < N; jj += 32)
        for (int ii = 0; ii < M; ii += 32)
            for (int j = jj; j < jj + 32 && j < N; j++)
                for (int i = ii; i < ii + 32 && i < M; i++) out[(long)j * M + i] = in[(long)i * N + j];
}
