// cheat: one over N everywhere: every row sums to one
// class: S9
// task: softmax
// expect: wrong

void softmax(double *in, double *out, int M, int N) {
    for (long i = 0; i < (long)M * N; i++) out[i] = 1.0 / N;
}
