// Captures the launch into a graph and never launches the graph.
// It must fail: a captured launch does not run; a recorder that counts it is fooled.
// expect: refused, not-compiled, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    relu<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(x, y, n);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphDestroy(graph);
}
