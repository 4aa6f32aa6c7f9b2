// honest: arrays of variable length as parameters, and a comment in every gap
// task: transpose
// stage: 1

static /* nothing */ void /* of */ move /* any */ (/* use */ int M, int /**/ N, /* here */ double in[M][N], double out[/* N */ N][/* M */ M]) /*
*/ {
    for /* each */ (int i = 0; /* row */ i < M; i++)
        for (int j = 0; j < N; /* and column */ j++) out /* of */ [j] /* the */ [i] = /* result */ in[i][j];
}

void transpose(/* from */ double *in, /* to */ double *out, int M /* rows */, int N /* columns */) { move(M, N, (void *)in, (void *)out); }
