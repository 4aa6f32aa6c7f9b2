// honest: sums and pointers kept in registers by word, which is fast without an optimiser
// task: matmul

typedef double v8 __attribute__((vector_size(64), aligned(8)));

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i += 8) {
        for (int j = 0; j < N; j += 16) {
            register v8 s00 = {0}, s01 = {0};
            register v8 s10 = {0}, s11 = {0};
            register v8 s20 = {0}, s21 = {0};
            register v8 s30 = {0}, s31 = {0};
            register v8 s40 = {0}, s41 = {0};
            register v8 s50 = {0}, s51 = {0};
            register v8 s60 = {0}, s61 = {0};
            register v8 s70 = {0}, s71 = {0};
            register double *a = A + i * K, *b = B + j, *end = a + K;
            for (; a < end; a++, b += N) {
                register v8 y0 = *(v8 *)b, y1 = *(v8 *)(b + 8), x;
                x = a[0] - (v8){}, s00 += x * y0, s01 += x * y1;
                x = a[256] - (v8){}, s10 += x * y0, s11 += x * y1;
                x = a[512] - (v8){}, s20 += x * y0, s21 += x * y1;
                x = a[768] - (v8){}, s30 += x * y0, s31 += x * y1;
                x = a[1024] - (v8){}, s40 += x * y0, s41 += x * y1;
                x = a[1280] - (v8){}, s50 += x * y0, s51 += x * y1;
                x = a[1536] - (v8){}, s60 += x * y0, s61 += x * y1;
                x = a[1792] - (v8){}, s70 += x * y0, s71 += x * y1;
            }
            double *c = C + i * N + j;
            *(v8 *)c = s00, *(v8 *)(c + 8) = s01, c += N;
            *(v8 *)c = s10, *(v8 *)(c + 8) = s11, c += N;
            *(v8 *)c = s20, *(v8 *)(c + 8) = s21, c += N;
            *(v8 *)c = s30, *(v8 *)(c + 8) = s31, c += N;
            *(v8 *)c = s40, *(v8 *)(c + 8) = s41, c += N;
            *(v8 *)c = s50, *(v8 *)(c + 8) = s51, c += N;
            *(v8 *)c = s60, *(v8 *)(c + 8) = s61, c += N;
            *(v8 *)c = s70, *(v8 *)(c + 8) = s71, c += N;
        }
    }
}
