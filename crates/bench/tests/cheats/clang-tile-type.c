// cheat: the type of the matrix unit's tiles is a vector, whether or not there is such a unit
// class: B3
// task: transpose
// stage: 1
// compiler: clang
// expect: refused

void transpose(double *in, double *out, int M, int N) {
    int i = 0;
    for (; i + 128 <= M; i += 128)
        for (int j = 0; j < N; j++) {
            _tile1024i v;
            for (int l = 0; l < 128; l++) ((double *)&v)[l] = in[(long)(i + l) * N + j];
            v |= v;
            __builtin_memcpy(out + (long)j * M + i, &v, sizeof v);
        }
    for (; i < M; i++)
        for (int j = 0; j < N; j++) out[(long)j * M + i] = in[(long)i * N + j];
}
