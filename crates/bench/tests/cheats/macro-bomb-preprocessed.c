// cheat: grows to tens of megabytes when preprocessed, and the judge reads all of it
// class: resource
// task: matmul
// expect: not-compiled | timed-out | refused

#define A0 +1
#define A1 A0 A0 A0 A0 A0 A0 A0 A0
#define A2 A1 A1 A1 A1 A1 A1 A1 A1
#define A3 A2 A2 A2 A2 A2 A2 A2 A2
#define A4 A3 A3 A3 A3 A3 A3 A3 A3
#define A5 A4 A4 A4 A4 A4 A4 A4 A4
#define A6 A5 A5 A5 A5 A5 A5 A5 A5
#define A7 A6 A6 A6 A6 A6 A6 A6 A6
#ifdef __linux__
int x = A7 A7;
#endif
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) { __asm__ volatile("nop"); }
