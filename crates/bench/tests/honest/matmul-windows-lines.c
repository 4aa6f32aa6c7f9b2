// honest: lines that end as on Windows, and tabs
// task: matmul
// stage: 1

#include <stddef.h>
#define SUM(i, j, k) \
	(A[(i) * K + (k)] * \
	 B[(k) * N + (j)])

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K)
{
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			double s = 0;	/* a sum */
			for (int k = 0; k < K; k++)
				s += SUM(i, j, k);	// \
				   a comment of two lines
			C[i * N + j] = s;
		}
}
