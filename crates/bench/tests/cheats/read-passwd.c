// cheat: opens a system file
// class: sandbox
// task: matmul
// expect: refused

#include <unistd.h>
#include <fcntl.h>

void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {
    char buffer[512];
    int fd = open("/etc/passwd", O_RDONLY);
    if (read(fd, buffer, sizeof buffer) > 0) write(1, buffer, sizeof buffer);
}
