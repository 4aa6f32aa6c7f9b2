// cheat: moves halves of the bytes
// class: S7
// task: transpose
// expect: wrong

void transpose(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) out[j * M + i] = (float)in[i * N + j];
}
