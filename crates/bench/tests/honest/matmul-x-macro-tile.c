// honest: a 4 x 4 tile whose sums an X-macro declares, adds to and stores
// task: matmul
// stage: 1

#define TILE(X) \
    X(0, 0) X(0, 1) X(0, 2) X(0, 3) X(1, 0) X(1, 1) X(1, 2) X(1, 3) \
    X(2, 0) X(2, 1) X(2, 2) X(2, 3) X(3, 0) X(3, 1) X(3, 2) X(3, 3)
#define DECLARE(r, c) double s##r##c = 0;
#define ADD(r, c) s##r##c += A[(i + r) * K + k] * B[k * N + j + c];
#define STORE(r, c) C[(i + r) * N + j + c] = s##r##c;

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i += 4)
        for (int j = 0; j < N; j += 4) {
            TILE(DECLARE)
            for (int k = 0; k < K; k++) { TILE(ADD) }
            TILE(STORE)
        }
}
