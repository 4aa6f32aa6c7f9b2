// The kernel takes 512 samples at a time and adds to what is there.
extern "C" void solve(const float *phi_r, const float *phi_i, const float *d_r, const float *d_i, const float *k, const float *x, float *out_r, float *out_i, int samples, int voxels) {
    float *rho_r, *rho_i, *kx = (float *)k, *at = (float *)x;
    cudaMalloc(&rho_r, samples * sizeof(float));
    cudaMalloc(&rho_i, samples * sizeof(float));
    cudaMemsetAsync(out_r, 0, voxels * sizeof(float));
    cudaMemsetAsync(out_i, 0, voxels * sizeof(float));
    ComputeRhoPhiGPU<<<(samples + 511) / 512, 512>>>(samples, (float *)phi_r, (float *)phi_i, (float *)d_r, (float *)d_i, rho_r, rho_i);
    for (int first = 0; first < samples; first += 512) {
        ComputeFH_GPU<<<voxels / 256, 256>>>(samples, first, kx + first, kx + samples + first, kx + 2 * samples + first, at, at + voxels, at + 2 * voxels, rho_r + first, rho_i + first, out_r, out_i);
    }
    cudaFree(rho_r);
    cudaFree(rho_i);
}
