// New tensors: memory of the GPU, and memsets. On the CPU nothing is allocated.
#pragma once

namespace at {

inline void in_order(std::optional<MemoryFormat> format) {
    if (format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d)
        hotloop::refuse_of("torch::empty", "a plan has no memory in channels last; permute the sizes instead");
}
inline Tensor empty(const IntArrayRef &sizes, const TensorOptions &options = {}, std::optional<MemoryFormat> format = std::nullopt) {
    in_order(format), in_order(options.format);
    Tensor made;
    made.is_defined = true;
    made.shape = sizes.list;
    for (int64_t size : made.shape) if (size < 0) throw c10::Error("a tensor with a negative dimension");
    made.steps = detail::dense(made.shape);
    made.element = options.type;
    if (options.kind == kCPU) {
        made.host = std::make_shared<HostMemory>();
        made.host->bytes = made.nbytes();
    } else if (made.numel()) {
        made.address = (uint64_t)hotloop::allocate(made.nbytes());
        if (!made.address) throw c10::Error("CUDA out of memory");
    }
    return made;
}

namespace detail {
// The bytes of one element.
inline size_t bytes_of(double value, ScalarType type, unsigned char *to) {
    const auto put = [&](auto number) { memcpy(to, &number, sizeof number); return sizeof number; };
    switch (type) {
    case ScalarType::Byte: return put((uint8_t)value);
    case ScalarType::Char: return put((int8_t)value);
    case ScalarType::Bool: return put((uint8_t)(value != 0));
    case ScalarType::Short: return put((int16_t)value);
    case ScalarType::Int: return put((int32_t)value);
    case ScalarType::Long: return put((int64_t)value);
    case ScalarType::Half: return put(__half(value));
    case ScalarType::BFloat16: return put(__nv_bfloat16(value));
    case ScalarType::Double: return put(value);
    default: return put((float)value);
    }
}
inline void write(const Tensor &to, double value) {
    if (to.host) {
        if (!to.is_non_overlapping_and_dense() || to.nbytes() != to.host->bytes)
            hotloop::refuse_of("Tensor::fill_", "a part of a tensor on the CPU is set, of which a plan knows one number; create it on the GPU");
        to.host->is_filled = true;
        to.host->fill = value;
        return;
    }
    if (!to.is_non_overlapping_and_dense()) computes("Tensor::fill_ of a tensor whose elements do not lie together");
    unsigned char bytes[8];
    size_t count = bytes_of(value, to.element, bytes);
    bool repeats = true;
    for (size_t at = 1; at < count; at++) repeats = repeats && bytes[at] == bytes[0];
    if (repeats) count = 1;
    if (count == 8) hotloop::refuse_of("fill_", "a value of eight bytes cannot be set by a plan; write it by a kernel");
    hotloop::set((void *)to.address, bytes, (uint32_t)count, to.nbytes());
}
}  // namespace detail

inline Tensor Tensor::to(Device where) const {
    if (where == device()) return *this;
    if (where.is_cpu()) looks("Tensor::to the CPU");
    Tensor made = empty(shape, options().device(where));
    made.steps = detail::like(shape, steps);
    if (host->is_filled) detail::write(made, host->fill);
    return made;
}
inline Tensor &Tensor::copy_(const Tensor &from, bool) {
    if (from.host && from.host->is_filled) return fill_(from.host->fill);
    if (host || from.host || !lies_like(from)) computes("Tensor::copy_ between tensors of other types, shapes, orders or places");
    hotloop::copy((void *)address, (const void *)from.address, nbytes(), cudaMemcpyDeviceToDevice, "Tensor::copy_");
    return *this;
}
inline Tensor empty_strided(const IntArrayRef &sizes, const IntArrayRef &strides, const TensorOptions &options = {}) {
    if (sizes.size() != strides.size() || !detail::is_dense(sizes.list, strides.list))
        hotloop::refuse_of("torch::empty_strided", "the elements do not lie together");
    Tensor made = empty(sizes, options);
    made.steps = strides.list;
    return made;
}
// A tensor that lies like another one, unless a format is asked for.
inline Tensor empty_like(const Tensor &like, const TensorOptions &options, std::optional<MemoryFormat> format = std::nullopt) {
    if (!format) format = options.format;
    Tensor made = empty(like.shape, options.or_else(like.options()), format);
    if (!format || format == MemoryFormat::Preserve) made.steps = detail::like(like.shape, like.steps);
    return made;
}
inline Tensor Tensor::clone() const {
    if (host && !host->is_filled) computes("Tensor::clone of a tensor on the CPU");
    if (!is_non_overlapping_and_dense()) computes("Tensor::clone of a tensor whose elements do not lie together");
    Tensor made = empty_like(*this, options());
    made.copy_(*this);
    return made;
}
inline Tensor Tensor::new_empty(const IntArrayRef &sizes) const { return empty(sizes, options()); }
inline Tensor Tensor::new_empty(const IntArrayRef &sizes, const TensorOptions &of) const { return empty(sizes, of.or_else(options())); }
inline Tensor Tensor::new_zeros(const IntArrayRef &sizes) const { return empty(sizes, options()).zero_(); }
inline Tensor Tensor::new_zeros(const IntArrayRef &sizes, const TensorOptions &of) const { return new_empty(sizes, of).zero_(); }
inline Tensor Tensor::new_ones(const IntArrayRef &sizes) const { return empty(sizes, options()).fill_(1); }
inline Tensor Tensor::new_full(const IntArrayRef &sizes, const Scalar &value) const { return empty(sizes, options()).fill_(value); }

inline Tensor full(const IntArrayRef &sizes, const Scalar &value, const TensorOptions &options = {}) { return empty(sizes, options).fill_(value); }
inline Tensor zeros(const IntArrayRef &sizes, const TensorOptions &options = {}) { return full(sizes, 0, options); }
inline Tensor ones(const IntArrayRef &sizes, const TensorOptions &options = {}) { return full(sizes, 1, options); }
inline Tensor scalar_tensor(const Scalar &value, const TensorOptions &options = {}) { return full(IntArrayRef(), value, options); }
inline Tensor tensor(double value, const TensorOptions &options = {}) { return full(IntArrayRef(), value, options); }
inline Tensor full_like(const Tensor &like, const Scalar &value, const TensorOptions &options) { return empty_like(like, options).fill_(value); }
inline Tensor zeros_like(const Tensor &like, const TensorOptions &options) { return full_like(like, 0, options); }
inline Tensor ones_like(const Tensor &like, const TensorOptions &options) { return full_like(like, 1, options); }
inline Tensor empty_like(const Tensor &like) { return empty_like(like, like.options()); }
inline Tensor full_like(const Tensor &like, const Scalar &value) { return full_like(like, value, like.options()); }
inline Tensor zeros_like(const Tensor &like) { return full_like(like, 0); }
inline Tensor ones_like(const Tensor &like) { return full_like(like, 1); }

#define HOTLOOP_COMPUTES(name) template <class... Ts> Tensor name(const Tensor &, Ts &&...) { computes("torch::" #name); }
HOTLOOP_COMPUTES(add) HOTLOOP_COMPUTES(sub) HOTLOOP_COMPUTES(mul) HOTLOOP_COMPUTES(div) HOTLOOP_COMPUTES(matmul)
HOTLOOP_COMPUTES(mm) HOTLOOP_COMPUTES(bmm) HOTLOOP_COMPUTES(addmm) HOTLOOP_COMPUTES(linear) HOTLOOP_COMPUTES(relu)
HOTLOOP_COMPUTES(sigmoid) HOTLOOP_COMPUTES(tanh) HOTLOOP_COMPUTES(gelu) HOTLOOP_COMPUTES(softmax) HOTLOOP_COMPUTES(log_softmax)
HOTLOOP_COMPUTES(sum) HOTLOOP_COMPUTES(mean) HOTLOOP_COMPUTES(max) HOTLOOP_COMPUTES(min) HOTLOOP_COMPUTES(conv1d)
HOTLOOP_COMPUTES(conv2d) HOTLOOP_COMPUTES(conv3d) HOTLOOP_COMPUTES(conv_transpose2d) HOTLOOP_COMPUTES(layer_norm)
HOTLOOP_COMPUTES(batch_norm) HOTLOOP_COMPUTES(max_pool2d) HOTLOOP_COMPUTES(avg_pool2d) HOTLOOP_COMPUTES(cumsum)
HOTLOOP_COMPUTES(exp) HOTLOOP_COMPUTES(log) HOTLOOP_COMPUTES(sqrt) HOTLOOP_COMPUTES(rsqrt) HOTLOOP_COMPUTES(abs)
HOTLOOP_COMPUTES(pow) HOTLOOP_COMPUTES(norm) HOTLOOP_COMPUTES(argmax) HOTLOOP_COMPUTES(argmin) HOTLOOP_COMPUTES(where)
HOTLOOP_COMPUTES(clamp) HOTLOOP_COMPUTES(dot) HOTLOOP_COMPUTES(var) HOTLOOP_COMPUTES(std) HOTLOOP_COMPUTES(pad)
#undef HOTLOOP_COMPUTES
template <class... Ts> Tensor cat(Ts &&...) { computes("torch::cat"); }
template <class... Ts> Tensor stack(Ts &&...) { computes("torch::stack"); }
template <class... Ts> Tensor einsum(Ts &&...) { computes("torch::einsum"); }
template <class... Ts> Tensor from_blob(Ts &&...) { hotloop::refuse_of("torch::from_blob", "a plan has no tensors over memory of the host"); }
template <class... Ts> Tensor rand(Ts &&...) { computes("torch::rand"); }
template <class... Ts> Tensor randn(Ts &&...) { computes("torch::randn"); }
template <class... Ts> Tensor arange(Ts &&...) { computes("torch::arange"); }

constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = kFloat, kHalf = ScalarType::Half, kFloat16 = kHalf,
    kDouble = ScalarType::Double, kFloat64 = kDouble, kBFloat16 = ScalarType::BFloat16, kInt = ScalarType::Int,
    kInt32 = kInt, kLong = ScalarType::Long, kInt64 = kLong, kShort = ScalarType::Short, kInt16 = kShort,
    kChar = ScalarType::Char, kInt8 = kChar, kByte = ScalarType::Byte, kUInt8 = kByte, kBool = ScalarType::Bool;

namespace cuda {
struct CUDAStream {
    operator cudaStream_t() const { return nullptr; }
    cudaStream_t stream() const { return nullptr; }
    int device_index() const { return 0; }
    void synchronize() const {}
};
inline CUDAStream getCurrentCUDAStream(int = -1) { return {}; }
inline CUDAStream getDefaultCUDAStream(int = -1) { return {}; }
inline CUDAStream getStreamFromPool(bool = false, int = -1) { return {}; }
inline bool is_available() { return true; }
inline cudaDeviceProp *getCurrentDeviceProperties() {
    static cudaDeviceProp known;
    hotloop::properties(&known);
    return &known;
}
inline cudaDeviceProp *getDeviceProperties(int) { return getCurrentDeviceProperties(); }
inline int current_device() { return 0; }
inline int warp_size() { return 32; }
}  // namespace cuda
inline std::optional<Device> device_of(const Tensor &tensor) { return tensor.device(); }
template <class T> T ceil_div(T a, T b) { return (a + b - 1) / b; }
inline int64_t maybe_wrap_dim(int64_t at, int64_t count, bool = true) { return at < 0 ? at + count : at; }
struct DeviceGuard { template <class T> explicit DeviceGuard(T &&) {} };
}  // namespace at

namespace c10 {
inline int64_t multiply_integers(const IntArrayRef &sizes) { int64_t all = 1; for (int64_t size : sizes) all *= size; return all; }
using at::DeviceGuard;
namespace cuda {
using namespace at::cuda;
struct CUDAGuard { template <class T> explicit CUDAGuard(T &&) {} };
struct OptionalCUDAGuard { OptionalCUDAGuard() {} template <class T> explicit OptionalCUDAGuard(T &&) {} };
struct CUDAStreamGuard { template <class T> explicit CUDAStreamGuard(T &&) {} };
}  // namespace cuda
}  // namespace c10
namespace at::cuda {
using c10::cuda::CUDAGuard;
using c10::cuda::OptionalCUDAGuard;
using c10::cuda::CUDAStreamGuard;
template <class T> T ATenCeilDiv(T a, T b) { return (a + b - 1) / b; }
inline int current_device_index() { return 0; }
namespace detail {
constexpr int CUDA_NUM_THREADS = 1024;
inline int GET_BLOCKS(int64_t count, int64_t threads = CUDA_NUM_THREADS) { return (int)((count + threads - 1) / threads); }
}
}
namespace torch {
using namespace at;
using at::cuda::getCurrentCUDAStream;
using Dtype = at::ScalarType;
inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
inline TensorOptions device(Device where) { return TensorOptions(where); }
inline TensorOptions requires_grad(bool = true) { return {}; }
struct NoGradGuard { NoGradGuard() {} };
namespace cuda { inline bool is_available() { return true; } inline void synchronize(int = -1) {} using namespace at::cuda; }
namespace indexing {}
namespace autograd {}
namespace nn { namespace functional {} }
}
