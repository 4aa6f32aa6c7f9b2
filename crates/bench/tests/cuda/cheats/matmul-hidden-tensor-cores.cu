// Reaches tensor cores by assembly whose text is pasted from pieces, where the stage forbids them.
// It must fail: the technique is looked for in the PTX, where the pieces are one.
// expect: refused
// stage: shared-memory
#include <cuda_runtime.h>

#define PASTE(a, b) a b
#define WORD(a) #a

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    int lane = threadIdx.x, row = blockIdx.y * 16, col = blockIdx.x * 8, g = lane / 4, t = lane % 4;
    float c[4] = {0, 0, 0, 0};
    for (int k = 0; k < N; k += 8) {
        unsigned a[4], b[2];
        for (int i = 0; i < 4; i++) {
            int r = row + g + i % 2 * 8, s = k + t + i / 2 * 4;
            a[i] = __float_as_uint(r < N && s < N ? A[(long long)r * N + s] : 0.0f);
        }
        for (int i = 0; i < 2; i++) {
            int r = k + t + i * 4, s = col + g;
            b[i] = __float_as_uint(r < N && s < N ? B[(long long)r * N + s] : 0.0f);
        }
        asm volatile(PASTE("m" WORD(ma) ".sy" "nc.aligned.m16n8k8.row.col.f32.tf32", ".tf32.f32 ")
                     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    for (int i = 0; i < 4; i++) {
        int r = row + g + i / 2 * 8, s = col + t * 2 + i % 2;
        if (r < N && s < N) C[(long long)r * N + s] = c[i];
    }
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    multiply<<<dim3((N + 7) / 8, (N + 15) / 16), 32>>>(A, B, C, N);
}
