// honest: declarations first, one statement a line, names of two letters: C as it was written in 1985
// task: matmul
// stage: 1

static double
inner(pa, pb, nk, ld)
	const double *pa, *pb;
	int nk, ld;
{
	register double sm;
	register int ik;

	sm = 0.0;
	for (ik = 0; ik < nk; ++ik, ++pa, pb += ld)
		sm += *pa * *pb;
	return (sm);
}

void
matmul_optimized(double *A, double *B, double *C, int M, int N, int K)
{
	int ii, jj;

	for (ii = 0; ii < M; ++ii)
		for (jj = 0; jj < N; ++jj)
			C[ii * N + jj] = inner(A + ii * K, B + jj, K, N);
	return;
}
