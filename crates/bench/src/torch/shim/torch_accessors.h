namespace at {
template <class T> struct DefaultPtrTraits { typedef T *PtrType; };
template <class T> struct RestrictPtrTraits { typedef T *__restrict__ PtrType; };

template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> struct TensorAccessor {
    typename P<T>::PtrType at;
    const I *lengths, *steps;
    HOTLOOP_BOTH I size(I d) const { return lengths[d]; }
    HOTLOOP_BOTH I stride(I d) const { return steps[d]; }
    HOTLOOP_BOTH typename P<T>::PtrType data() const { return at; }
    HOTLOOP_BOTH TensorAccessor<T, N - 1, P, I> operator[](I i) const { return {at + steps[0] * i, lengths + 1, steps + 1}; }
};
template <class T, template <class> class P, class I> struct TensorAccessor<T, 1, P, I> {
    typename P<T>::PtrType at;
    const I *lengths, *steps;
    HOTLOOP_BOTH I size(I d) const { return lengths[d]; }
    HOTLOOP_BOTH I stride(I d) const { return steps[d]; }
    HOTLOOP_BOTH typename P<T>::PtrType data() const { return at; }
    HOTLOOP_BOTH T &operator[](I i) const { return at[steps[0] * i]; }
};

template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> struct GenericPackedTensorAccessor {
    typename P<T>::PtrType at;
    I lengths[N], steps[N];
    HOTLOOP_BOTH I size(I d) const { return lengths[d]; }
    HOTLOOP_BOTH I stride(I d) const { return steps[d]; }
    HOTLOOP_BOTH typename P<T>::PtrType data() const { return at; }
    HOTLOOP_BOTH decltype(auto) operator[](I i) const { return TensorAccessor<T, N, P, I>{at, lengths, steps}[i]; }
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, P, int32_t>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, P, int64_t>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, P, I>;
}
namespace at {
template <class T> struct OpMathType { typedef T type; };
template <> struct OpMathType<::__half> { typedef float type; };
template <> struct OpMathType<::__nv_bfloat16> { typedef float type; };
template <class T> using opmath_type = typename OpMathType<T>::type;
template <class T, bool on_gpu> struct AccumulateType { typedef int64_t type; };
template <bool on_gpu> struct AccumulateType<bool, on_gpu> { typedef bool type; };
template <> struct AccumulateType<float, true> { typedef float type; };
template <> struct AccumulateType<float, false> { typedef double type; };
template <bool on_gpu> struct AccumulateType<double, on_gpu> { typedef double type; };
template <bool on_gpu> struct AccumulateType<::__half, on_gpu> { typedef float type; };
template <bool on_gpu> struct AccumulateType<::__nv_bfloat16, on_gpu> { typedef float type; };
template <class T, bool on_gpu> using acc_type = typename AccumulateType<T, on_gpu>::type;
}
namespace torch { using namespace at; }
