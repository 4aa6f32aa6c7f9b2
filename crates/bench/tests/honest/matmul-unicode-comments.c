// honest: comments and strings in many scripts: Matrizenprodukt für Größe 256 — 行列の積 — произведение матриц — ضرب المصفوفات
// task: matmul

/* Σ over k: C[i][j] = Σₖ A[i][k]·B[k][j] — “quotes”, ‘apostrophes’, … and an emoji 🚀 */
static const char *const note = "größer ≥ schneller → ✓";
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    const double nichts = note[0] == 'g' ? 0.0 : 1.0; // 零
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double summe = nichts; /* naïve */
            for (int k = 0; k < K; k++) summe += A[i * K + k] * B[k * N + j];
            C[i * N + j] = summe;
        }
}
