void reverse(double *in, double *out, int N) {
    for (int i = 0; i < N; i++) out[i] = in[N - 1 - i];
}
