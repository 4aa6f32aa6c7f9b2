// honest: tiles through a local array
// task: transpose

#include <string.h>

enum { T = 16 };
void transpose(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i += T)
        for (int j = 0; j < N; j += T) {
            double tile[T][T];
            const int m = M - i < T ? M - i : T, n = N - j < T ? N - j : T;
            for (int a = 0; a < m; a++)
                for (int b = 0; b < n; b++) tile[b][a] = in[(long)(i + a) * N + j + b];
            for (int b = 0; b < n; b++) memcpy(out + (long)(j + b) * M + i, tile[b], sizeof(double) * m);
        }
}
