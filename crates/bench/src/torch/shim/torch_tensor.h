// A tensor: an address, a shape, strides, a type. On the CPU it is only a description.
#pragma once

// The device half has these as well, in front of its first line, so they stand without a comment or a directive.
#define HOTLOOP_BOTH inline
#include "torch_accessors.h"

namespace at {
using namespace c10;

// Memory on the CPU that is nowhere: what is known of its numbers, for when they go to the GPU.
struct HostMemory {
    size_t bytes = 0;
    bool is_filled = false;
    double fill = 0;
};

struct Tensor;
[[noreturn]] inline void computes(const char *name) {
    hotloop::refuse_of(name, "it does its work with torch; write that as a kernel of your own");
}
[[noreturn]] inline void looks(const char *name) {
    hotloop::refuse_of(name, "it looks at the numbers of a tensor, and a plan is made without them");
}

namespace detail {
inline std::vector<int64_t> dense(const std::vector<int64_t> &sizes) {
    std::vector<int64_t> strides(sizes.size());
    int64_t step = 1;
    for (size_t at = sizes.size(); at-- > 0; step *= std::max<int64_t>(sizes[at], 1)) strides[at] = step;
    return strides;
}
// Whether the elements lie together, in whatever order, each at a place of its own.
inline bool is_dense(const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides) {
    std::vector<std::pair<int64_t, int64_t>> sorted;
    for (size_t at = 0; at < sizes.size(); at++) {
        if (sizes[at] == 0) return true;
        if (sizes[at] != 1) sorted.emplace_back(strides[at], sizes[at]);
    }
    std::sort(sorted.begin(), sorted.end());
    int64_t step = 1;
    for (const auto &one : sorted) {
        if (one.first != step) return false;
        step *= one.second;
    }
    return true;
}
// The strides of new memory for a tensor that lies like one of these strides, as torch chooses them.
inline std::vector<int64_t> like(const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides) {
    if (is_dense(sizes, strides)) return strides;
    const int64_t count = (int64_t)sizes.size();
    std::vector<int64_t> order(count), made(count);
    for (int64_t at = 0; at < count; at++) order[at] = count - 1 - at;
    for (int64_t last = 1; last < count; last++) {
        for (int64_t at = last, other = last - 1; other >= 0; other--) {
            const int64_t a = order[other], b = order[at];
            if (!strides[a] || !strides[b]) continue;
            if (strides[a] < strides[b]) break;
            if (strides[a] > strides[b] || sizes[a] > sizes[b]) std::swap(order[other], order[at]), at = other;
        }
    }
    int64_t step = 1;
    for (int64_t at : order) made[at] = step, step *= std::max<int64_t>(sizes[at], 1);
    return made;
}
void write(const Tensor &to, double value);
}  // namespace detail

// What `type()` gives: an element type, and where the tensor lies.
struct TypeOf {
    ScalarType element;
    bool on_gpu;
    operator ScalarType() const { return element; }
    ScalarType scalarType() const { return element; }
    bool is_cuda() const { return on_gpu; }
};

struct Tensor {
    uint64_t address = 0;
    std::vector<int64_t> shape, steps;
    ScalarType element = ScalarType::Float;
    bool is_defined = false;
    std::shared_ptr<HostMemory> host;

    int64_t dim() const { return (int64_t)shape.size(); }
    int64_t ndimension() const { return dim(); }
    int64_t wrapped(int64_t at, int64_t room = 0) const {
        const int64_t count = dim() + room;
        if (at < -count || at >= count) throw c10::Error("Dimension out of range");
        return at < 0 ? at + count : at;
    }
    int64_t size(int64_t at) const { return shape[wrapped(at)]; }
    int64_t stride(int64_t at) const { return steps[wrapped(at)]; }
    IntArrayRef sizes() const { return shape; }
    IntArrayRef strides() const { return steps; }
    int64_t numel() const { int64_t count = 1; for (int64_t one : shape) count *= one; return count; }
    size_t nbytes() const { return (size_t)numel() * elementSize(element); }
    int64_t element_size() const { return (int64_t)elementSize(element); }
    size_t itemsize() const { return elementSize(element); }
    int64_t storage_offset() const { return 0; }
    bool is_cuda() const { return is_defined && !host; }
    bool is_cpu() const { return is_defined && host; }
    bool defined() const { return is_defined; }
    bool is_floating_point() const { return isFloatingType(element); }
    bool is_sparse() const { return false; }
    bool requires_grad() const { return false; }
    bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
        if (format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d) return false;
        int64_t step = 1;
        for (size_t at = shape.size(); at-- > 0;) {
            if (shape[at] != 1 && steps[at] != step) return numel() == 0;
            step *= shape[at];
        }
        return true;
    }
    bool is_non_overlapping_and_dense() const { return detail::is_dense(shape, steps); }
    // Whether elements of the same indices lie at the same places.
    bool lies_like(const Tensor &other) const {
        if (element != other.element || shape != other.shape || !is_non_overlapping_and_dense()) return false;
        return steps == other.steps || (is_contiguous() && other.is_contiguous());
    }
    Device device() const { return host ? kCPU : kCUDA; }
    int get_device() const { return host ? -1 : 0; }
    ScalarType scalar_type() const { return element; }
    TypeMeta dtype() const { return {element}; }
    TypeOf type() const { return {element, is_cuda()}; }
    TensorOptions options() const { return TensorOptions(element).device(device()); }
    std::string toString() const { return std::string(is_cuda() ? "CUDA" : "CPU") + c10::toString(element) + "Type"; }
    bool is_same(const Tensor &other) const { return address == other.address; }
    bool is_same_size(const Tensor &other) const { return shape == other.shape; }
    MemoryFormat suggest_memory_format() const { return MemoryFormat::Contiguous; }

    void *data_ptr() const {
        if (!is_defined) throw c10::Error("data_ptr of an undefined tensor");
        if (host) hotloop::refuse_of("data_ptr", "the tensor lies on the CPU; a kernel reads memory of the GPU");
        return (void *)address;
    }
    template <class T> T *data_ptr() const {
        using Plain = std::remove_const_t<T>;
        if constexpr (!std::is_void_v<Plain>) {
            if (CppTypeToScalarType<Plain>::value != element)
                throw c10::Error(std::string("expected scalar type ") + c10::toString(CppTypeToScalarType<Plain>::value) + " but found " + c10::toString(element));
        }
        return (T *)data_ptr();
    }
    template <class T> const T *const_data_ptr() const { return data_ptr<T>(); }
    template <class T> T *mutable_data_ptr() const { return data_ptr<T>(); }
    void *mutable_data_ptr() const { return data_ptr(); }
    const void *const_data_ptr() const { return data_ptr(); }
    template <class T> T *data() const { return data_ptr<T>(); }

    // The same memory, seen in another way.
    Tensor seen(std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t move = 0) const {
        Tensor made = *this;
        made.shape = std::move(sizes);
        made.steps = std::move(strides);
        if (!host) made.address += (uint64_t)(move * element_size());
        return made;
    }
    std::vector<int64_t> fitted(const IntArrayRef &wanted) const {
        std::vector<int64_t> sizes = wanted.list;
        int64_t known = 1, open = -1;
        for (size_t at = 0; at < sizes.size(); at++) {
            if (sizes[at] < 0) open = (int64_t)at;
            else known *= sizes[at];
        }
        if (open >= 0) { sizes[open] = known ? numel() / known : 0; known *= sizes[open]; }
        if (known != numel()) throw c10::Error("shape is invalid for the number of elements");
        return sizes;
    }
    Tensor view(const IntArrayRef &sizes) const {
        if (!is_contiguous()) throw c10::Error("view of a tensor that is not contiguous");
        std::vector<int64_t> made = fitted(sizes), strides = detail::dense(made);
        return seen(made, strides);
    }
    Tensor reshape(const IntArrayRef &sizes) const {
        if (!is_contiguous()) computes("Tensor::reshape of a tensor that is not contiguous");
        return view(sizes);
    }
    Tensor view_as(const Tensor &other) const { return view(other.shape); }
    Tensor reshape_as(const Tensor &other) const { return reshape(other.shape); }
    Tensor flatten(int64_t from = 0, int64_t to = -1) const {
        if (shape.empty()) return view({1});
        from = wrapped(from), to = wrapped(to);
        std::vector<int64_t> made(shape.begin(), shape.begin() + from);
        int64_t middle = 1;
        for (int64_t at = from; at <= to; at++) middle *= shape[at];
        made.push_back(middle);
        made.insert(made.end(), shape.begin() + to + 1, shape.end());
        return reshape(made);
    }
    Tensor unsqueeze(int64_t at) const {
        at = wrapped(at, 1);
        Tensor made = *this;
        const int64_t step = at < dim() ? steps[at] * shape[at] : 1;
        made.shape.insert(made.shape.begin() + at, 1);
        made.steps.insert(made.steps.begin() + at, step);
        return made;
    }
    Tensor squeeze(int64_t at) const {
        at = wrapped(at);
        Tensor made = *this;
        if (shape[at] != 1) return made;
        made.shape.erase(made.shape.begin() + at);
        made.steps.erase(made.steps.begin() + at);
        return made;
    }
    Tensor squeeze() const {
        Tensor made = *this;
        for (int64_t at = dim(); at-- > 0;) if (made.shape[at] == 1) made = made.squeeze(at);
        return made;
    }
    Tensor permute(const IntArrayRef &order) const {
        if ((int64_t)order.size() != dim()) throw c10::Error("permute names every dimension once");
        Tensor made = *this;
        for (size_t at = 0; at < order.size(); at++) {
            made.shape[at] = shape[wrapped(order[at])];
            made.steps[at] = steps[wrapped(order[at])];
        }
        return made;
    }
    Tensor transpose(int64_t a, int64_t b) const {
        a = wrapped(a), b = wrapped(b);
        Tensor made = *this;
        std::swap(made.shape[a], made.shape[b]);
        std::swap(made.steps[a], made.steps[b]);
        return made;
    }
    Tensor t() const { return dim() == 2 ? transpose(0, 1) : *this; }
    Tensor narrow(int64_t at, int64_t start, int64_t length) const {
        at = wrapped(at);
        if (start < 0 || length < 0 || start + length > shape[at]) throw c10::Error("narrow goes beyond its dimension");
        std::vector<int64_t> sizes = shape;
        sizes[at] = length;
        return seen(sizes, steps, start * steps[at]);
    }
    Tensor slice(int64_t at, int64_t start, int64_t end, int64_t step = 1) const {
        at = wrapped(at);
        end = std::min(end, shape[at]);
        Tensor made = narrow(at, start, std::max<int64_t>(end - start, 0));
        made.shape[at] = (made.shape[at] + step - 1) / step;
        made.steps[at] *= step;
        return made;
    }
    std::vector<Tensor> split(int64_t size, int64_t at = 0) const {
        std::vector<Tensor> made;
        for (int64_t from = 0; from < this->size(at); from += size) made.push_back(slice(at, from, from + size));
        return made;
    }
    std::vector<Tensor> chunk(int64_t count, int64_t at = 0) const { return split((size(at) + count - 1) / count, at); }
    std::vector<Tensor> unbind(int64_t at = 0) const {
        std::vector<Tensor> made;
        for (int64_t index = 0; index < size(at); index++) made.push_back(select(at, index));
        return made;
    }
    Tensor swapaxes(int64_t a, int64_t b) const { return transpose(a, b); }
    Tensor select(int64_t at, int64_t index) const { return narrow(at, index < 0 ? index + size(at) : index, 1).squeeze(at); }
    Tensor operator[](int64_t index) const { return select(0, index); }
    Tensor expand(const IntArrayRef &wanted) const {
        std::vector<int64_t> sizes = wanted.list, strides(sizes.size(), 0);
        const int64_t fresh = (int64_t)sizes.size() - dim();
        if (fresh < 0) throw c10::Error("expand to fewer dimensions");
        for (int64_t at = 0; at < dim(); at++) {
            int64_t &size = sizes[fresh + at];
            if (size < 0) size = shape[at];
            if (shape[at] != size && shape[at] != 1) throw c10::Error("expand of a dimension that is not 1");
            strides[fresh + at] = shape[at] == size ? steps[at] : 0;
        }
        return seen(sizes, strides);
    }
    Tensor expand_as(const Tensor &other) const { return expand(other.shape); }
    Tensor detach() const { return *this; }
    Tensor alias() const { return *this; }

    // The same numbers elsewhere.
    Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const {
        if (!is_contiguous(format)) computes("Tensor::contiguous of a tensor whose elements lie in another order");
        return *this;
    }
    Tensor to(ScalarType of) const {
        if (of != element) computes("Tensor::to another type");
        return *this;
    }
    Tensor to(TypeMeta of) const { return to(of.type); }
    Tensor to(Device where) const;
    Tensor to(DeviceType where) const { return to(Device(where)); }
    Tensor to(const char *where) const { return to(Device(where)); }
    Tensor to(Device where, ScalarType of, bool = false, bool = false) const { return to(where).to(of); }
    Tensor to(const TensorOptions &given, bool = false) const {
        const TensorOptions all = given.or_else(options());
        return to(all.device()).to(all.dtype());
    }
    Tensor cuda() const { return to(kCUDA); }
    Tensor cpu() const { if (!host) looks("Tensor::cpu"); return *this; }
    Tensor toType(ScalarType of) const { return to(of); }
    Tensor clone() const;
    Tensor &copy_(const Tensor &from, bool = false);
    Tensor &fill_(const Scalar &value) { detail::write(*this, value.value); return *this; }
    Tensor &zero_() { return fill_(0); }
    void record_stream(...) const {}
    Tensor new_empty(const IntArrayRef &sizes) const;
    Tensor new_zeros(const IntArrayRef &sizes) const;
    Tensor new_empty(const IntArrayRef &sizes, const TensorOptions &options) const;
    Tensor new_zeros(const IntArrayRef &sizes, const TensorOptions &options) const;
    Tensor new_ones(const IntArrayRef &sizes) const;
    Tensor new_full(const IntArrayRef &sizes, const Scalar &value) const;
    template <class T> T item() const { looks("Tensor::item"); }
    Scalar item() const { looks("Tensor::item"); }
    template <class T, size_t N> TensorAccessor<T, N> accessor() const { looks("Tensor::accessor"); }
    template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t>
    GenericPackedTensorAccessor<T, N, P, I> packed_accessor() const {
        if (dim() != (int64_t)N) throw c10::Error("an accessor of other dimensions than the tensor's");
        GenericPackedTensorAccessor<T, N, P, I> made;
        made.at = data_ptr<T>();
        for (size_t d = 0; d < N; d++) made.lengths[d] = (I)shape[d], made.steps[d] = (I)steps[d];
        return made;
    }
    template <class T, size_t N, template <class> class P = DefaultPtrTraits>
    PackedTensorAccessor32<T, N, P> packed_accessor32() const { return packed_accessor<T, N, P, int32_t>(); }
    template <class T, size_t N, template <class> class P = DefaultPtrTraits>
    PackedTensorAccessor64<T, N, P> packed_accessor64() const { return packed_accessor<T, N, P, int64_t>(); }

#define HOTLOOP_COMPUTES(name) template <class... Ts> Tensor name(Ts &&...) const { computes("Tensor::" #name); }
    HOTLOOP_COMPUTES(add) HOTLOOP_COMPUTES(add_) HOTLOOP_COMPUTES(sub) HOTLOOP_COMPUTES(sub_) HOTLOOP_COMPUTES(mul)
    HOTLOOP_COMPUTES(mul_) HOTLOOP_COMPUTES(div) HOTLOOP_COMPUTES(div_) HOTLOOP_COMPUTES(matmul) HOTLOOP_COMPUTES(mm)
    HOTLOOP_COMPUTES(bmm) HOTLOOP_COMPUTES(sum) HOTLOOP_COMPUTES(mean) HOTLOOP_COMPUTES(max) HOTLOOP_COMPUTES(min)
    HOTLOOP_COMPUTES(exp) HOTLOOP_COMPUTES(log) HOTLOOP_COMPUTES(sqrt) HOTLOOP_COMPUTES(rsqrt) HOTLOOP_COMPUTES(pow)
    HOTLOOP_COMPUTES(relu) HOTLOOP_COMPUTES(relu_) HOTLOOP_COMPUTES(sigmoid) HOTLOOP_COMPUTES(tanh) HOTLOOP_COMPUTES(softmax)
    HOTLOOP_COMPUTES(log_softmax) HOTLOOP_COMPUTES(abs) HOTLOOP_COMPUTES(neg) HOTLOOP_COMPUTES(clamp) HOTLOOP_COMPUTES(norm)
    HOTLOOP_COMPUTES(argmax) HOTLOOP_COMPUTES(argmin) HOTLOOP_COMPUTES(cumsum) HOTLOOP_COMPUTES(var) HOTLOOP_COMPUTES(std)
    HOTLOOP_COMPUTES(repeat) HOTLOOP_COMPUTES(sort) HOTLOOP_COMPUTES(gelu) HOTLOOP_COMPUTES(triu) HOTLOOP_COMPUTES(tril)
};
#undef HOTLOOP_COMPUTES

#define HOTLOOP_OPERATOR(sign) \
    template <class T> Tensor operator sign(const Tensor &, const T &) { computes("tensor " #sign " ..."); } \
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> Tensor operator sign(const T &, const Tensor &) { computes("... " #sign " tensor"); }
HOTLOOP_OPERATOR(+) HOTLOOP_OPERATOR(-) HOTLOOP_OPERATOR(*) HOTLOOP_OPERATOR(/)
#undef HOTLOOP_OPERATOR

using TensorList = std::vector<Tensor>;
}  // namespace at
