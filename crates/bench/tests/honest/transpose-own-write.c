// honest: a global function of its own is called write
// task: transpose

void write(double *to, double value) { *to = value; }
void transpose(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) write(&out[(long)j * M + i], in[(long)i * N + j]);
}
