// cheat: blocks of sixteen without a remainder
// class: S6
// task: transpose
// expect: wrong | crashed

void transpose(double *in, double *out, int M, int N) {
    for (int i = 0; i + 16 <= M; i += 16)
        for (int j = 0; j + 16 <= N; j += 16)
            for (int a = 0; a < 16; a++)
                for (int b = 0; b < 16; b++) out[(j + b) * M + i + a] = in[(i + a) * N + j + b];
}
