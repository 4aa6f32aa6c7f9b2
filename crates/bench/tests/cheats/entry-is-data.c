// cheat: the entry point is a variable
// class: malformed
// task: matmul
// expect: malformed | refused | not-compiled | crashed

double matmul_optimized[256];
