// A work-efficient scan: up and down a tree in shared memory, padded against bank conflicts.
#include <cuda_runtime.h>

constexpr int THREADS = 512;
constexpr int ELEMENTS = 2 * THREADS;
#define PADDED(i) ((i) + ((i) >> 5))

__global__ void scan_elements(const float *x, float *y, float *totals, int n) {
    __shared__ float tree[PADDED(ELEMENTS)];
    const int base = blockIdx.x * ELEMENTS, t = threadIdx.x;
    const int a = base + t, b = base + t + THREADS;
    const float of_a = a < n ? x[a] : 0.f, of_b = b < n ? x[b] : 0.f;
    tree[PADDED(t)] = of_a;
    tree[PADDED(t + THREADS)] = of_b;
    int offset = 1;
    for (int d = THREADS; d > 0; d >>= 1, offset <<= 1) {
        __syncthreads();
        if (t < d) tree[PADDED(offset * (2 * t + 2) - 1)] += tree[PADDED(offset * (2 * t + 1) - 1)];
    }
    if (t == 0) {
        totals[blockIdx.x] = tree[PADDED(ELEMENTS - 1)];
        tree[PADDED(ELEMENTS - 1)] = 0.f;
    }
    for (int d = 1; d <= THREADS; d <<= 1) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            const int left = PADDED(offset * (2 * t + 1) - 1), right = PADDED(offset * (2 * t + 2) - 1);
            const float held = tree[left];
            tree[left] = tree[right];
            tree[right] += held;
        }
    }
    __syncthreads();
    if (a < n) y[a] = tree[PADDED(t)] + of_a;
    if (b < n) y[b] = tree[PADDED(t + THREADS)] + of_b;
}

__global__ void add_totals(float *y, const float *totals, int n) {
    const int i = ELEMENTS + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += totals[i / ELEMENTS - 1];
}

void scan_level(const float *x, float *y, int n) {
    const int blocks = (n + ELEMENTS - 1) / ELEMENTS;
    float *scratch;  // the totals, and after them their scan
    cudaMalloc(&scratch, 2 * sizeof(float) * blocks);
    scan_elements<<<blocks, THREADS>>>(x, y, scratch, n);
    if (n > ELEMENTS) {
        scan_level(scratch, scratch + blocks, blocks);
        add_totals<<<(n - ELEMENTS + 255) / 256, 256>>>(y, scratch + blocks, n);
    }
    cudaFree(scratch);
}

extern "C" void solve(const float *x, float *y, int n) { scan_level(x, y, n); }
