// cheat: an attribute names the vector function of libmvec by two literals
// class: B3
// task: softmax
// stage: 1
// expect: refused

typedef __float128 PAIR;
static PAIR two(PAIR) __attribute__((weakref("_ZGVb" "N2v_exp")));
void softmax(double *x, double *y, int M, int N) {
    for (int i = 0; i < M; i++) {
        double *in = x + i * N, *out = y + i * N, most = in[0], sum = 0;
        for (int j = 1; j < N; j++)
            if (in[j] > most) most = in[j];
        int j = 0;
        for (; j + 2 <= N; j += 2) {
            double pair[2] = {in[j] - most, in[j + 1] - most};
            PAIR v;
            __builtin_memcpy(&v, pair, sizeof v);
            v = two(v);
            __builtin_memcpy(out + j, &v, sizeof v);
            sum += out[j] + out[j + 1];
        }
        for (; j < N; j++) sum += out[j] = exp(in[j] - most);
        for (j = 0; j < N; j++) out[j] /= sum;
    }
}
