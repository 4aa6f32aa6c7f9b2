// Two buffers in shared memory: one barrier a step instead of two.
#include <cuda_runtime.h>

template <int SIDE, int DEPTH>
struct Buffers {
    float a[2][DEPTH][SIDE + 1];
    float b[2][DEPTH][SIDE];
};

template <int SIDE, int DEPTH, int THREADS>
class Product {
  public:
    __device__ Product(const float *A, const float *B, int N, Buffers<SIDE, DEPTH> &shared) : A_(A), B_(B), N_(N), shared_(shared) {}

    __device__ void load(int which, int k0) {
        for (int e = threadIdx.x; e < SIDE * DEPTH; e += THREADS) {
            const int row = blockIdx.y * SIDE + e / DEPTH, k = k0 + e % DEPTH;
            shared_.a[which][e % DEPTH][e / DEPTH] = row < N_ && k < N_ ? A_[(long long)row * N_ + k] : 0.0f;
        }
        for (int e = threadIdx.x; e < SIDE * DEPTH; e += THREADS) {
            const int k = k0 + e / SIDE, column = blockIdx.x * SIDE + e % SIDE;
            shared_.b[which][e / SIDE][e % SIDE] = k < N_ && column < N_ ? B_[(long long)k * N_ + column] : 0.0f;
        }
    }

    __device__ void add(int which) {
        for (int k = 0; k < DEPTH; k++) {
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 4; j++) sums_[i][j] += shared_.a[which][k][row(i)] * shared_.b[which][k][column(j)];
            }
        }
    }

    __device__ void store(float *C) const {
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                const int r = blockIdx.y * SIDE + row(i), c = blockIdx.x * SIDE + column(j);
                if (r < N_ && c < N_) C[(long long)r * N_ + c] = sums_[i][j];
            }
        }
    }

  private:
    __device__ static int row(int i) { return threadIdx.x / (SIDE / 4) + i * (SIDE / 4); }
    __device__ static int column(int j) { return threadIdx.x % (SIDE / 4) + j * (SIDE / 4); }

    const float *A_, *B_;
    const int N_;
    Buffers<SIDE, DEPTH> &shared_;
    float sums_[4][4] = {};
};

template <int SIDE, int DEPTH, int THREADS>
__global__ void matmul_fast(const float *A, const float *B, float *C, int N) {
    static_assert(THREADS * 16 == SIDE * SIDE, "sixteen results a thread");
    __shared__ Buffers<SIDE, DEPTH> shared;
    Product<SIDE, DEPTH, THREADS> product(A, B, N, shared);
    product.load(0, 0);
    __syncthreads();
    int now = 0;
    for (int k0 = 0; k0 < N; k0 += DEPTH, now ^= 1) {
        if (k0 + DEPTH < N) product.load(now ^ 1, k0 + DEPTH);
        product.add(now);
        __syncthreads();
    }
    product.store(C);
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    auto blocks = [](int n, int side) { return (n + side - 1) / side; };
    dim3 grid(blocks(N, 64), blocks(N, 64));
    matmul_fast<64, 8, 256><<<grid, 256>>>(A, B, C, N);
}
