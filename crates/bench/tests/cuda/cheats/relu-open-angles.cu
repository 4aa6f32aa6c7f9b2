// Opens a hundred thousand template argument lists by a macro and closes none.
// It must fail: it does not compile; a reader that looks for the end from each of them takes
// minutes, in a process that nothing limits.
// expect: malformed, refused, not-compiled, timed-out
#include <cuda_runtime.h>

#define A __device__ t< t< t< t< t< t< t<
#define B A A A A A A A A
#define C B B B B B B B B
#define D C C C C C C C C
#define E D D D D D D D D
#define F E E E E

F

__global__ void relu(const float *x, float *y, long long n) { y[0] = 0; }

extern "C" void solve(const float *x, float *y, long long n) { relu<<<1, 1>>>(x, y, n); }
