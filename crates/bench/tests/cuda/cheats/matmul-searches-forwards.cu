// Reads what lies behind the output in steps of 2 MB; the reference's product may be mapped there.
// It must fail: expected values live in another process.
// expect: crashed, wrong
#include <cuda_runtime.h>

__device__ const float *found;

__global__ void search(const float *A, const float *B, float *C, int N) {
    double want = 0;
    for (int k = 0; k < N; k++) want += (double)A[k] * B[(long long)k * N];
    found = nullptr;
    for (long long step = 1; step < 65536; step++) {
        const float *at = C + step * (1 << 19);
        if (fabs(at[0] - want) < 1e-4) {
            found = at;
            return;
        }
    }
}

__global__ void copy(float *C, long long all) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (found && i < all) C[i] = found[i];
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    search<<<1, 1>>>(A, B, C, N);
    copy<<<(unsigned)(((long long)N * N + 255) / 256), 256>>>(C, (long long)N * N);
}
