// honest: writes in order, reads with a stride
// task: transpose

void transpose(double *in, double *out, int M, int N) {
    double *o = out;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) *o++ = in[(long)i * N + j];
}
