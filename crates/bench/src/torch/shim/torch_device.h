// What code for the GPU uses of torch's headers: short types, limits and shuffles.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
template <class T> __device__ inline T WARP_SHFL(T value, int from, int width = 32, unsigned mask = 0xffffffff) { return __shfl_sync(mask, value, from, width); }
template <class T> __device__ inline T WARP_SHFL_XOR(T value, int by, int width = 32, unsigned mask = 0xffffffff) { return __shfl_xor_sync(mask, value, by, width); }
template <class T> __device__ inline T WARP_SHFL_UP(T value, unsigned by, int width = 32, unsigned mask = 0xffffffff) { return __shfl_up_sync(mask, value, by, width); }
template <class T> __device__ inline T WARP_SHFL_DOWN(T value, unsigned by, int width = 32, unsigned mask = 0xffffffff) { return __shfl_down_sync(mask, value, by, width); }
__device__ inline unsigned WARP_BALLOT(int is, unsigned mask = 0xffffffff) { return __ballot_sync(mask, is); }
template <class T, class U> __device__ inline T gpuAtomicAdd(T *to, U value) { return atomicAdd(to, (T)value); }
template <class T, class U> __device__ inline void gpuAtomicAddNoReturn(T *to, U value) { atomicAdd(to, (T)value); }
namespace c10 {
typedef ::__half Half;
typedef ::__nv_bfloat16 BFloat16;
namespace cuda { namespace compat {
template <class T> __device__ inline T max(T a, T b) { return ::max(a, b); }
template <class T> __device__ inline T min(T a, T b) { return ::min(a, b); }
using ::abs; using ::exp; using ::log; using ::log1p; using ::ceil; using ::floor; using ::sqrt; using ::rsqrt;
using ::pow; using ::tan; using ::tanh; using ::sin; using ::cos; using ::sinh; using ::cosh; using ::erf;
} }
}
namespace at {
using namespace c10;
struct Tensor; struct TensorOptions; enum class ScalarType : signed char;
template <class T> struct numeric_limits {
    __host__ __device__ static constexpr T lowest() { return std::numeric_limits<T>::lowest(); }
    __host__ __device__ static constexpr T max() { return std::numeric_limits<T>::max(); }
    __host__ __device__ static constexpr T lower_bound() { return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : lowest(); }
    __host__ __device__ static constexpr T upper_bound() { return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : max(); }
};
template <class T> __device__ inline bool _isnan(T value) { return value != value; }
template <class T> __host__ __device__ constexpr T ceil_div(T a, T b) { return (a + b - 1) / b; }
namespace native {}
namespace cuda { using namespace c10::cuda; template <class T> __host__ __device__ constexpr T ATenCeilDiv(T a, T b) { return (a + b - 1) / b; } }
}
namespace torch {
namespace indexing {}
namespace autograd {}
namespace nn { namespace functional {} }
}
