// cheat: an error message that reads as if the disk were full, so that the machine gets the blame
// class: verdict
// task: matmul
// expect: not-compiled

#error No space left on device
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
