// Nests sixteen thousand types by macros that the splitter itself must expand.
// It must fail: it does not compile; a reader that recurses runs out of stack and takes the bench
// with it.
// expect: malformed, refused, not-compiled, timed-out
#include <cuda_runtime.h>

#define A struct s { __device__ int v;
#define B A A A A A A A
#define C B B B B B B B
#define D C C C C C C C
#define E D D D D D D D
#define F E E E E E E E
#define a __device__ int w; };
#define b a a a a a a a
#define c b b b b b b b
#define d c c c c c c c
#define e d d d d d d d
#define f e e e e e e e

F f

__global__ void relu(const float *x, float *y, long long n) { y[0] = 0; }

extern "C" void solve(const float *x, float *y, long long n) {
    s nested;
    relu<<<1, 1>>>(x, y, n);
}
