// Nests launches within the configuration of launches, thousands deep, by macros.
// It must fail: it does not compile; a reader that recurses runs out of stack, and one that starts
// again at every level takes minutes.
// expect: malformed, refused, not-compiled, timed-out
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) { y[0] = 0; }

#define O relu<<<(
#define P O O O O O O O O
#define Q P P P P P P P P
#define R Q Q Q Q Q Q Q Q
#define S R R R R R R R R
#define c ), 1>>>(x, y, __device__ n)
#define p c c c c c c c c
#define q p p p p p p p p
#define r q q q q q q q q
#define s r r r r r r r r

extern "C" void solve(const float *x, float *y, long long n) { S 1 s; }
