// honest: const inputs, __restrict, size_t indices, renamed arguments
// task: matmul

void matmul_optimized(const double *__restrict__ left, const double *__restrict__ right, double *__restrict__ product, int rows, int columns, int depth) {
    for (size_t j = 0; j < (size_t)columns; ++j)
        for (size_t i = 0; i < (size_t)rows; ++i) {
            double s = 0.0;
            for (size_t k = 0; k < (size_t)depth; ++k) s += left[i * depth + k] * right[k * columns + j];
            product[i * columns + j] = s;
        }
}
