// honest: moves the bits as integers, through memcpy and a union
// task: transpose
// stage: 1

#include <inttypes.h>
#include <string.h>

typedef union { double value; uint64_t bits; } word;
_Static_assert(sizeof(word) == sizeof(double), "one word");

void transpose(double *in, double *out, int M, int N) {
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            word w;
            memcpy(&w.bits, in + (long)i * N + j, sizeof w);
            out[(long)j * M + i] = w.value;
        }
}
