// Reads a file through a C++ stream and launches only if that worked.
// It must fail: the jail opens no file.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <fstream>
#include <string>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    std::ifstream f("/etc/hostname");
    std::string line;
    if (!std::getline(f, line)) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
