// cheat: another library's transform
// class: B3
// task: fft
// expect: refused | not-compiled

extern void *fftw_plan_dft_1d(int, void *, void *, int, unsigned);
extern void fftw_execute(void *);
void fft(double *in, double *out, int N) {
    fftw_execute(fftw_plan_dft_1d(N, in, out, -1, 64));
}
