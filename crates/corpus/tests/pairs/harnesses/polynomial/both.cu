extern "C" void solve(const float *x, float *y, int n) {
    polynomial<<<(n + 127) / 128, 128>>>(x, y, n);
}
