// cheat: counts rows and columns in 16 bits, and stops at 1024 of them
// class: S6
// task: transpose
// expect: wrong | crashed

void transpose(double *in, double *out, int M, int N) {
    unsigned short m = M > 1024 ? 1024 : M, n = N > 1024 ? 1024 : N;
    for (unsigned short i = 0; i < m; i++)
        for (unsigned short j = 0; j < n; j++) out[(long)j * M + i] = in[(long)i * N + j];
}
