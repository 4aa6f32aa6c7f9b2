// Instantiates templates without end.
// It must fail: compilers have a limit of depth, and compilation a limit of time and memory.
// expect: not-compiled, timed-out, refused
#include <cuda_runtime.h>

template <class A, class B> struct Pair {};
template <int N, class T> struct Grow { typedef typename Grow<N - 1, Pair<T, T>>::type type; };
template <class T> struct Grow<0, T> { typedef T type; };
template <int A, int B> struct Tree { enum { v = Tree<A - 1, 2 * B>::v + Tree<A - 1, 2 * B + 1>::v }; };
template <int B> struct Tree<0, B> { enum { v = B & 1 }; };

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], (float)(Tree<26, 0>::v * 0));
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
