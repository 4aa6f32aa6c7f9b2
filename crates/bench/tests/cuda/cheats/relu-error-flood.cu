// Makes the compiler print errors without end, to fill logs and pipes.
// It must fail: what a compiler prints is cut.
// expect: not-compiled, timed-out, refused
#include <cuda_runtime.h>

#define W a b c d e f g h i j k l m n o p q r s t u v w x y z;
#define V W W W W W W W W W W W W W W W W
#define U V V V V V V V V V V V V V V V V
#define T U U U U U U U U U U U U U U U U
T T T T

__global__ void relu(const float *x, float *y, long long n) { y[0] = 0; }

extern "C" void solve(const float *x, float *y, long long n) { relu<<<1, 1>>>(x, y, n); }
