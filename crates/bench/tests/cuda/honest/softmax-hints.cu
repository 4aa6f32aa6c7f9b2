// A constant of the compiler beside loads and stores with hints.
// stage: shared-memory
#include <cuda_runtime.h>
__global__ void k(const float* x, float* y, int rows, int cols) { int r = blockIdx.x * 256 + threadIdx.x; if (r >= rows) return; float m = -__FLT_MAX__, s = 0; for (int i = 0; i < cols; i++) m = fmaxf(m, __ldg(x + (size_t)r * cols + i)); for (int i = 0; i < cols; i++) s += __expf(__ldg(&x[(size_t)r * cols + i]) - m); for (int i = 0; i < cols; i++) __stcg(&y[(size_t)r * cols + i], __expf(__ldcg(&x[(size_t)r * cols + i]) - m) / s); }
extern "C" void solve(const float* x, float* y, int rows, int cols) { k<<<(rows + 255) / 256, 256>>>(x, y, rows, cols); }
