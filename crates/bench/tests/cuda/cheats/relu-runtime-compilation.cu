// Compiles another kernel at run time by NVRTC and loads it.
// It must fail: host code meets neither a compiler nor a GPU.
// expect: refused, not-compiled, crashed, wrong
#include <cuda_runtime.h>
#include <nvrtc.h>

extern "C" void solve(const float *x, float *y, long long n) {
    nvrtcProgram program;
    if (nvrtcCreateProgram(&program, "extern \"C\" __global__ void k() {}", "k.cu", 0, nullptr, nullptr)) return;
    nvrtcCompileProgram(program, 0, nullptr);
}
