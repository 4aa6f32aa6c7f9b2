// relu: refused: `solve` launches no kernel
extern "C" void solve(const float* x, float* y) {}
