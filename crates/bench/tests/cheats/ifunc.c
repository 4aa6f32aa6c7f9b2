// cheat: an ifunc resolver runs while the library is loaded
// class: B3
// task: matmul
// expect: refused | not-compiled | malformed

typedef void kernel(double *, double *, double *, int, int, int);
static void nothing(double *A, double *B, double *C, int M, int N, int K) {}
static kernel *resolve(void) {
    return nothing;
}

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) __attribute__((ifunc("resolve")));
