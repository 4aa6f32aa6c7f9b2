// honest: Duff's device
// task: matvec
// stage: 1

void matvec(double *A, double *x, double *y, int M, int N) {
    while (M--) {
        const double *v = x;
        double s = 0;
        int rounds = (N + 7) / 8;
        switch (N % 8) {
        case 0: do { s += *A++ * *v++;
        case 7:      s += *A++ * *v++;
        case 6:      s += *A++ * *v++;
        case 5:      s += *A++ * *v++;
        case 4:      s += *A++ * *v++;
        case 3:      s += *A++ * *v++;
        case 2:      s += *A++ * *v++;
        case 1:      s += *A++ * *v++;
                } while (--rounds > 0);
        }
        *y++ = s;
    }
}
