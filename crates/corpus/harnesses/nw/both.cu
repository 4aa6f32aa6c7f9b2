__global__ void harness_borders(int *scores, int width) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i < width) scores[i] = scores[(long long)i * width] = -10 * i;
}

// Blocks of 16 x 16, diagonal by diagonal, with a penalty of ten for each gap.
extern "C" void solve(const int *similarity, int *scores, int n) {
    const int width = n + 1, blocks = n / 16;
    harness_borders<<<(width + 63) / 64, 64>>>(scores, width);
    for (int i = 1; i <= blocks; i++) needle_cuda_shared_1<<<i, 16>>>((int *)similarity, scores, width, 10, i, blocks);
    for (int i = blocks - 1; i >= 1; i--) needle_cuda_shared_2<<<i, 16>>>((int *)similarity, scores, width, 10, i, blocks);
}
