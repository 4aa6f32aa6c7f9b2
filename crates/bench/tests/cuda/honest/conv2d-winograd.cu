// Winograd's method for tiles of 2 x 2: fewer products than the definition, as exact as float sums.
#include <cuda_runtime.h>

struct Image {
    int N, C, H, W, O;
    __host__ __device__ int down() const { return (H - 1) / 2; }    // tiles in a column
    __host__ __device__ int across() const { return (W - 1) / 2; }  // tiles in a row
    __host__ __device__ long long tiles() const { return (long long)N * down() * across(); }
};

// U[k][o][c]: the transformed filters, G g G^T.
__global__ void transform_filters(const float *w, float *U, Image s) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x, count = s.O * s.C;
    if (t >= count) return;
    const float *g = w + (size_t)t * 9;
    float rows[4][3];
    for (int q = 0; q < 3; q++) {
        const float a = g[q], b = g[3 + q], c = g[6 + q];
        rows[0][q] = a;
        rows[1][q] = 0.5f * (a + b + c);
        rows[2][q] = 0.5f * (a - b + c);
        rows[3][q] = c;
    }
    for (int p = 0; p < 4; p++) {
        const float a = rows[p][0], b = rows[p][1], c = rows[p][2];
        const float line[4] = {a, 0.5f * (a + b + c), 0.5f * (a - b + c), c};
        for (int q = 0; q < 4; q++) U[(size_t)(p * 4 + q) * count + t] = line[q];
    }
}

// V[k][c][tile]: the transformed patches of 4 x 4, B^T d B.
__global__ void transform_patches(const float *x, float *V, Image s) {
    const long long tile = (long long)blockIdx.x * blockDim.x + threadIdx.x, tiles = s.tiles();
    if (tile >= tiles) return;
    const int c = blockIdx.y, n = (int)(tile / (s.down() * s.across()));
    const int top = (int)(tile / s.across() % s.down()) * 2, left = (int)(tile % s.across()) * 2;
    float d[4][4], rows[4][4];
    for (int p = 0; p < 4; p++) {
        for (int q = 0; q < 4; q++) {
            const int i = top + p, j = left + q;
            d[p][q] = i < s.H && j < s.W ? x[(((size_t)n * s.C + c) * s.H + i) * s.W + j] : 0.0f;
        }
    }
    for (int q = 0; q < 4; q++) {
        rows[0][q] = d[0][q] - d[2][q];
        rows[1][q] = d[1][q] + d[2][q];
        rows[2][q] = d[2][q] - d[1][q];
        rows[3][q] = d[1][q] - d[3][q];
    }
    for (int p = 0; p < 4; p++) {
        const float *r = rows[p];
        const float line[4] = {r[0] - r[2], r[1] + r[2], r[2] - r[1], r[1] - r[3]};
        for (int q = 0; q < 4; q++) V[((size_t)(p * 4 + q) * s.C + c) * tiles + tile] = line[q];
    }
}

// One thread a tile and output channel: sixteen sums over the input channels, then A^T m A.
__global__ void multiply(const float *U, const float *V, float *y, Image s) {
    const long long tile = (long long)blockIdx.x * blockDim.x + threadIdx.x, tiles = s.tiles();
    if (tile >= tiles) return;
    const int o = blockIdx.y, OH = s.H - 2, OW = s.W - 2;
    float m[16] = {};
    for (int c = 0; c < s.C; c++) {
#pragma unroll
        for (int k = 0; k < 16; k++) m[k] += U[((size_t)k * s.O + o) * s.C + c] * V[((size_t)k * s.C + c) * tiles + tile];
    }
    float rows[2][4];
#pragma unroll
    for (int q = 0; q < 4; q++) {
        rows[0][q] = m[q] + m[4 + q] + m[8 + q];
        rows[1][q] = m[4 + q] - m[8 + q] - m[12 + q];
    }
    const int n = (int)(tile / (s.down() * s.across()));
    const int top = (int)(tile / s.across() % s.down()) * 2, left = (int)(tile % s.across()) * 2;
    for (int p = 0; p < 2 && top + p < OH; p++) {
        float *out = y + (((size_t)n * s.O + o) * OH + top + p) * OW + left;
        out[0] = rows[p][0] + rows[p][1] + rows[p][2];
        if (left + 1 < OW) out[1] = rows[p][1] - rows[p][2] - rows[p][3];
    }
}

extern "C" void solve(const float *x, const float *w, float *y, int N, int C, int H, int W, int O) {
    const Image s = {N, C, H, W, O};
    float *U, *V;
    cudaMalloc(&U, sizeof(float) * 16 * O * C);
    cudaMalloc(&V, sizeof(float) * 16 * C * s.tiles());
    const unsigned blocks = (unsigned)((s.tiles() + 127) / 128);
    transform_filters<<<(O * C + 127) / 128, 128>>>(w, U, s);
    transform_patches<<<dim3(blocks, C), 128>>>(x, V, s);
    multiply<<<dim3(blocks, O), 128>>>(U, V, y, s);
    cudaFree(U);
    cudaFree(V);
}
