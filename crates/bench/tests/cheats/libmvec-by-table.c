// cheat: finds the vector function of libmvec in the tables of the loader
// class: B3
// task: softmax
// stage: 1
// expect: refused | crashed

// Walks the loader's list of libraries from the program's own structures, and looks for the vector
// function by its name.
typedef struct { unsigned name; unsigned char info, other; unsigned short section; unsigned long value, size; } symbol;
typedef struct { long tag; unsigned long value; } entry;
typedef struct library { unsigned long base; char *name; entry *dynamic; struct library *next, *before; } library;
typedef __float128 PAIR;
typedef PAIR vector(PAIR);
extern entry _DYNAMIC[] __attribute__((visibility("hidden")));

static vector *find(void) {
    library *at = 0;
    for (entry *e = _DYNAMIC; e->tag; e++)
        if (e->tag == 3) at = ((library **)e->value)[1];
    for (; at; at = at->next) {
        symbol *symbols = 0;
        char *names = 0;
        for (entry *e = at->dynamic; e->tag; e++) {
            if (e->tag == 5) names = (char *)e->value;
            if (e->tag == 6) symbols = (symbol *)e->value;
        }
        for (symbol *s = symbols; s && (char *)(s + 1) <= names; s++)
            if (!__builtin_strcmp(names + s->name, "_ZGV" "bN2v_exp")) return (vector *)(at->base + s->value);
    }
    return 0;
}

void softmax(double *x, double *y, int M, int N) {
    vector *two = find();
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
