// honest: comments and labels of scalar assembly that hold words of vectors and prefetching
// task: matmul
// stage: 1

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0, t;
            const double *a = A + (long)i * K, *b = B + j;
            long left = K;
            __asm__ volatile(
                "# loops in single steps: neither mulpd nor zmm0, and no prefetching\n"
                ".Lsteps%=:\n\t"
                "movsd (%[a]), %[t] /* vmovapd would take eight */\n\t"
                "mulsd (%[b]), %[t]\n\t"
                "addsd %[t], %[sum]\n\t"
                "addq $8, %[a]\n\t"
                "addq %[row], %[b]\n\t"
                "decq %[left]\n\t"
                "jnz .Lsteps%="
                : [sum] "+x"(sum), [a] "+r"(a), [b] "+r"(b), [left] "+r"(left), [t] "=&x"(t)
                : [row] "r"((long)N * 8)
                : "cc", "memory");
            C[i * N + j] = sum;
        }
}
