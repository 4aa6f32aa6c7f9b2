// honest: plain helpers with names in the style of a library
// task: matmul
// stage: 1

static inline void _kernel_mask4(const double *a, const double *b, double *c, int n, int on) {
    if (on) for (int j = 0; j < n; j++) c[j] += *a * b[j];
}
static inline void _m_pack(const double *from, double *to, int n) { __builtin_memcpy(to, from, sizeof(double) * n); }
static inline void omp_init_tile(double *c, int n) { for (int j = 0; j < n; j++) c[j] = 0; }
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    double row[256];
    for (int i = 0; i < M; i++) {
        omp_init_tile(C + i * N, N);
        _m_pack(A + i * K, row, K);
        for (int k = 0; k < K; k++) _kernel_mask4(row + k, B + k * N, C + i * N, N, 1);
    }
}
