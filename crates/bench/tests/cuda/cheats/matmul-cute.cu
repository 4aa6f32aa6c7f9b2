// Includes a template library that lies on many machines and lets it write the kernel.
// It must fail: it is not among the headers that compilers may read.
// expect: refused, not-compiled
#include <cuda_runtime.h>
#include <cutlass/gemm/device/gemm.h>

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    using Row = cutlass::layout::RowMajor;
    cutlass::gemm::device::Gemm<float, Row, float, Row, float, Row> gemm;
    gemm({{N, N, N}, {A, N}, {B, N}, {C, N}, {C, N}, {1.0f, 0.0f}});
}
