// cheat: an expression nested a million deep
// class: resource
// task: matmul
// expect: not-compiled | timed-out | refused | wrong

#define OPEN1 ( ( ( ( ( ( ( ( ( (
#define OPEN2 OPEN1 OPEN1 OPEN1 OPEN1 OPEN1 OPEN1 OPEN1 OPEN1 OPEN1 OPEN1
#define OPEN3 OPEN2 OPEN2 OPEN2 OPEN2 OPEN2 OPEN2 OPEN2 OPEN2 OPEN2 OPEN2
#define OPEN4 OPEN3 OPEN3 OPEN3 OPEN3 OPEN3 OPEN3 OPEN3 OPEN3 OPEN3 OPEN3
#define OPEN5 OPEN4 OPEN4 OPEN4 OPEN4 OPEN4 OPEN4 OPEN4 OPEN4 OPEN4 OPEN4
#define OPEN6 OPEN5 OPEN5 OPEN5 OPEN5 OPEN5 OPEN5 OPEN5 OPEN5 OPEN5 OPEN5
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    C[0] = OPEN6 1;
}
