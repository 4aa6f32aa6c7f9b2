// cheat: mixes sixteen bytes at once, by assembly words that no list of vectors has
// class: B3
// task: transpose
// stage: 1
// expect: refused

void transpose(double *in, double *out, int M, int N) {
    double key = 0;
    __asm__ volatile("aesenc %0, %0\n\tpclmulqdq $0, %0, %0\n\tgf2p8mulb %0, %0\n\tptest %0, %0\n\tmpsadbw $0, %0, %0"
                     : "+x"(key) : : "cc");
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) out[(long)j * M + i] = in[(long)i * N + j];
}
