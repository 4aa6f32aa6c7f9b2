// Macros of torch that stand in front of functions and loops of the GPU.
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_LAUNCH_BOUNDS_1(...) __launch_bounds__(__VA_ARGS__)
#define C10_LAUNCH_BOUNDS_2(...) __launch_bounds__(__VA_ARGS__)
#define C10_ALWAYS_INLINE inline
#define C10_RESTRICT __restrict__
#define C10_WARP_SIZE 32
#define AT_CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define CUDA_KERNEL_ASSERT(...) ((void)0)
#define CUDA_KERNEL_LOOP_TYPE(i, n, type) int64_t _i_n_d_e_x_##i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; for (type i = _i_n_d_e_x_##i; _i_n_d_e_x_##i < (n); _i_n_d_e_x_##i += (int64_t)blockDim.x * gridDim.x, i = _i_n_d_e_x_##i)
#define CUDA_KERNEL_LOOP(i, n) int64_t _i_n_d_e_x_##i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; for (int i = _i_n_d_e_x_##i; _i_n_d_e_x_##i < (n); _i_n_d_e_x_##i += (int64_t)blockDim.x * gridDim.x, i = _i_n_d_e_x_##i)
