// cheat: another language
// class: malformed
// task: matmul
// expect: not-compiled | refused | malformed

#include <vector>

extern "C" void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    std::vector<double> row(N);
}
