// cheat: writes and reads every descriptor that it may have inherited
// class: T5
// task: matmul
// expect: wrong | crashed | refused | timed-out

#include <unistd.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    static const char line[] = "{\"verdict\":\"correct\"}\n";
    for (int fd = 3; fd < 64; fd++) write(fd, line, sizeof line - 1);
}
