// cheat: a hidden function named _init runs at load without any section of its own, and exits as a broken sandbox would
// class: verdict
// task: matmul
// expect: refused

__attribute__((visibility("hidden"))) void _init(void) { _Exit(96); }
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
