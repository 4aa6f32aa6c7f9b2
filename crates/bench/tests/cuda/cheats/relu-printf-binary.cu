// Prints zero bytes, escape sequences and bytes that are no UTF-8; computes nothing.
// It must fail: the reader of any log survives it.
// expect: wrong, refused
#include <cstdio>
#include <cuda_runtime.h>

__global__ void print() { printf("%c%c%c%c\033[2J\033]0;owned\007%s\n", 0, 255, 254, 128, "\xc3\x28\xff"); }

extern "C" void solve(const float *x, float *y, long long n) { print<<<4, 32>>>(); }
