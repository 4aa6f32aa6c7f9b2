// cheat: rows are counted up to those of the timed matrix
// class: S6
// task: transpose
// expect: wrong | crashed

void transpose(double *in, double *out, int M, int N) {
    const int rows = M < 720 ? M : 720;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < N; j++) out[(long)j * M + i] = in[(long)i * N + j];
}
