// cheat: nearly a million attributes of OpenMP, each of which opens a bracket that nobody closes: the scan looks four thousand words ahead at each
// class: resource
// task: matmul
// expect: refused

#define A omp::[[omp::[[omp::[[omp::[[omp::[[omp::[[omp::[[omp::[[omp::[[omp::[[
#define B A A A A A A A A A A
#define C B B B B B B B B B B
#define D C C C C C C C C C C

void matmul_optimized(double *A_, double *B_, double *C_, int M, int N, int K) { }

D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D D
