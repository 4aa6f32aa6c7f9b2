// cheat: 64 GB of static memory
// class: resource
// task: matmul
// expect: crashed | wrong | timed-out | not-compiled | refused

static char space[(size_t)64 << 30];
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    for (size_t i = 0; i < sizeof space; i += 4096) ((volatile char *)space)[i] = 1;
}
