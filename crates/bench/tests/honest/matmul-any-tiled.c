// honest: blocks with a remainder, scratch of posix_memalign that grows
// task: matmul-any

#include <stdlib.h>
#include <string.h>

static double *packed;
static size_t capacity;
void matmul_any(double *A, double *B, double *C, int M, int N, int K) {
    const int width = 16;
    if (capacity < (size_t)K * width) {
        free(packed);
        capacity = (size_t)K * width;
        if (posix_memalign((void **)&packed, 64, capacity * sizeof(double))) abort();
    }
    for (int j = 0; j < N; j += width) {
        const int w = N - j < width ? N - j : width;
        for (int k = 0; k < K; k++)
            for (int s = 0; s < width; s++) packed[k * width + s] = s < w ? B[(long)k * N + j + s] : 0.0;
        for (int i = 0; i < M; i++) {
            double c[16] = {0};
            for (int k = 0; k < K; k++)
                for (int s = 0; s < 16; s++) c[s] += A[(long)i * K + k] * packed[k * 16 + s];
            memcpy(C + (long)i * N + j, c, sizeof(double) * w);
        }
    }
}
