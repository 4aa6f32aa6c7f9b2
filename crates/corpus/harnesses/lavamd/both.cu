__global__ void harness_boxes(box_str *all, int boxes) {
    const int home = blockIdx.x, z0 = home / (boxes * boxes), y0 = home / boxes % boxes, x0 = home % boxes;
    box_str *box = all + home;
    int count = 0;
    for (int around = 0; around < 27; around++) {
        const int z = z0 + around / 9 - 1, y = y0 + around / 3 % 3 - 1, x = x0 + around % 3 - 1;
        if (around == 13 || z < 0 || y < 0 || x < 0 || z >= boxes || y >= boxes || x >= boxes) continue;
        box->nei[count++].number = (z * boxes + y) * boxes + x;
    }
    box->offset = 100L * home;
    box->nn = count;
}

// Boxes with 100 particles each; alpha is 1/2. The kernel adds to what is there.
extern "C" void solve(const double *positions, const double *charges, double *forces, int boxes) {
    const int count = boxes * boxes * boxes;
    par_str par = {};
    dim_str dim = {};
    par.alpha = 0.5;
    dim.number_boxes = count;
    box_str *all;
    cudaMalloc(&all, count * sizeof(box_str));
    harness_boxes<<<count, 1>>>(all, boxes);
    cudaMemsetAsync(forces, 0, sizeof(double) * 400 * count);
    kernel_gpu_cuda<<<count, 128>>>(par, dim, all, (FOUR_VECTOR *)positions, (double *)charges, (FOUR_VECTOR *)forces);
    cudaFree(all);
}
