// cheat: embeds a library's code in the object
// class: B3
// task: matmul
// expect: refused

__asm__(".data\nlibrary:\n.incbin \"/usr/lib/x86_64-linux-gnu/libblas.so.3\"\n.text\n");
void matmul_optimized(double *A, double *B, double *C, int M, int N, int K) {}
