// honest: one walk over a row that takes what to do as a function
// task: softmax
// stage: 1

#include <math.h>

typedef struct row { const double *in; double *out; int length; double largest, sum; } row;
typedef void visit(row *, int);

static void see(row *r, int j) { r->largest = r->in[j] > r->largest ? r->in[j] : r->largest; }
static void raise_power(row *r, int j) { r->sum += r->out[j] = exp(r->in[j] - r->largest); }
static void scale(row *r, int j) { r->out[j] *= 1 / r->sum; }

static void walk(row *r, visit *what) {
    for (int j = 0; j < r->length; j++) what(r, j);
}

void softmax(double *in, double *out, int M, int N) {
    visit *const passes[] = {see, raise_power, scale};
    for (int i = 0; i < M; i++) {
        row r = {in + (long)i * N, out + (long)i * N, N, .largest = in[(long)i * N]};
        for (unsigned p = 0; p < sizeof passes / sizeof *passes; p++) walk(&r, passes[p]);
    }
}
