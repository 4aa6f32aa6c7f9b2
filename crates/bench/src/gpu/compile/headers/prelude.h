// What nvcc's own headers give device code beyond what NVRTC knows by itself. Types and macros are those
// of NVIDIA's own C++ library, so that both may be included.
#ifndef HOTLOOP_PRELUDE
#define HOTLOOP_PRELUDE

using int8_t = signed char;
using int16_t = signed short;
using int32_t = signed int;
using int64_t = signed long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using intptr_t = int64_t;
using uintptr_t = uint64_t;
using intmax_t = int64_t;
using uintmax_t = uint64_t;
#define HOTLOOP_WIDTHS(KIND)                                                                                 \
    using int_##KIND##8_t = int8_t;                                                                          \
    using int_##KIND##16_t = int16_t;                                                                        \
    using int_##KIND##32_t = int32_t;                                                                        \
    using int_##KIND##64_t = int64_t;                                                                        \
    using uint_##KIND##8_t = uint8_t;                                                                        \
    using uint_##KIND##16_t = uint16_t;                                                                      \
    using uint_##KIND##32_t = uint32_t;                                                                      \
    using uint_##KIND##64_t = uint64_t;
HOTLOOP_WIDTHS(fast)
HOTLOOP_WIDTHS(least)
#undef HOTLOOP_WIDTHS
using ssize_t = long;
using u_int8_t = uint8_t;
using u_int16_t = uint16_t;
using u_int32_t = uint32_t;
using u_int64_t = unsigned long;
using uint = unsigned int;
using ushort = unsigned short;
using ulong = unsigned long;

#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-INT_MAX - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX - 1L)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define ULLONG_MAX 18446744073709551615ULL
#define INT8_MIN SCHAR_MIN
#define INT16_MIN SHRT_MIN
#define INT32_MIN INT_MIN
#define INT64_MIN LLONG_MIN
#define INT8_MAX SCHAR_MAX
#define INT16_MAX SHRT_MAX
#define INT32_MAX INT_MAX
#define INT64_MAX LLONG_MAX
#define UINT8_MAX UCHAR_MAX
#define UINT16_MAX USHRT_MAX
#define UINT32_MAX UINT_MAX
#define UINT64_MAX ULLONG_MAX
#define SIZE_MAX UINT64_MAX
#define INTPTR_MIN INT64_MIN
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define INTMAX_MIN INT64_MIN
#define INTMAX_MAX INT64_MAX
#define UINTMAX_MAX UINT64_MAX
#define PTRDIFF_MIN INT64_MIN
#define PTRDIFF_MAX INT64_MAX
#define INT8_C(X) ((::int_least8_t) (X))
#define INT16_C(X) ((::int_least16_t) (X))
#define INT32_C(X) ((::int_least32_t) (X))
#define INT64_C(X) ((::int_least64_t) (X))
#define UINT8_C(X) ((::uint_least8_t) (X))
#define UINT16_C(X) ((::uint_least16_t) (X))
#define UINT32_C(X) ((::uint_least32_t) (X))
#define UINT64_C(X) ((::uint_least64_t) (X))
#define RAND_MAX INT_MAX
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define BUFSIZ 8192

#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_EPSILON 1.19209289550781250000000000000000000e-7f
#define FLT_MAX 3.40282346638528859811704183484516925e+38f
#define FLT_MIN 1.17549435082228750796873653722224568e-38f
#define FLT_TRUE_MIN 1.40129846432481707092372958328991613e-45f
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MAX_10_EXP 38
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_EPSILON 2.22044604925031308084726333618164062e-16
#define DBL_MAX 1.79769313486231570814527423731704357e+308
#define DBL_MIN 2.22507385850720138309023271733240406e-308
#define DBL_TRUE_MIN 4.94065645841246544176568792868221372e-324
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MIN_10_EXP (-307)
#define DBL_MAX_10_EXP 308

// What the host's compiler has for these.
#ifndef __FLT_MAX__
#define __FLT_MAX__ FLT_MAX
#define __FLT_MIN__ FLT_MIN
#define __FLT_EPSILON__ FLT_EPSILON
#define __FLT_DENORM_MIN__ FLT_TRUE_MIN
#define __DBL_MAX__ DBL_MAX
#define __DBL_MIN__ DBL_MIN
#define __DBL_EPSILON__ DBL_EPSILON
#endif
#ifndef __INT_MAX__
#define __INT_MAX__ INT_MAX
#define __LONG_MAX__ LONG_MAX
#define __LONG_LONG_MAX__ LLONG_MAX
#endif
#ifndef __builtin_popcount
#define __builtin_popcount(X) __popc(X)
#define __builtin_popcountll(X) __popcll(X)
#define __builtin_clz(X) __clz(X)
#define __builtin_clzll(X) __clzll(X)
#define __builtin_fmaf(A, B, C) fmaf(A, B, C)
#endif

#ifndef INFINITY
#define INFINITY (__builtin_bit_cast(float, 0x7f800000))
#endif
#ifndef NAN
#define NAN (__builtin_bit_cast(float, 0x7fffffff))
#endif
#ifndef HUGE_VALF
#define HUGE_VALF (__builtin_bit_cast(float, 0x7f800000))
#define HUGE_VAL (__builtin_bit_cast(double, 0x7ff0000000000000))
#endif

#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

namespace std {
using ::int8_t;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::uint8_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::intptr_t;
using ::uintptr_t;
using ::int_fast8_t;
using ::int_fast16_t;
using ::int_fast32_t;
using ::int_fast64_t;
using ::uint_fast8_t;
using ::uint_fast16_t;
using ::uint_fast32_t;
using ::uint_fast64_t;
using ::int_least8_t;
using ::int_least16_t;
using ::int_least32_t;
using ::int_least64_t;
using ::uint_least8_t;
using ::uint_least16_t;
using ::uint_least32_t;
using ::uint_least64_t;
using ::intmax_t;
using ::uintmax_t;
using size_t = decltype(sizeof(0));
using ptrdiff_t = decltype(static_cast<char *>(nullptr) - static_cast<char *>(nullptr));
using nullptr_t = decltype(nullptr);
enum class byte : unsigned char {};
struct alignas(16) max_align_t {
    long long whole[4];
};

using ::abs;
using ::acos;
using ::acosf;
using ::acosh;
using ::asin;
using ::asinf;
using ::asinh;
using ::atan;
using ::atan2;
using ::atan2f;
using ::atanf;
using ::atanh;
using ::cbrt;
using ::cbrtf;
using ::ceil;
using ::ceilf;
using ::copysign;
using ::copysignf;
using ::cos;
using ::cosf;
using ::cosh;
using ::coshf;
using ::erf;
using ::erfc;
using ::erfcf;
using ::erff;
using ::exp;
using ::exp2;
using ::exp2f;
using ::expf;
using ::expm1;
using ::expm1f;
using ::fabs;
using ::fabsf;
using ::fdim;
using ::floor;
using ::floorf;
using ::fma;
using ::fmaf;
using ::fmax;
using ::fmaxf;
using ::fmin;
using ::fminf;
using ::fmod;
using ::fmodf;
using ::frexp;
using ::hypot;
using ::hypotf;
using ::ilogb;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::ldexp;
using ::lgamma;
using ::llrint;
using ::llround;
using ::log;
using ::log10;
using ::log10f;
using ::log1p;
using ::log1pf;
using ::log2;
using ::log2f;
using ::logb;
using ::logf;
using ::lrint;
using ::lround;
using ::memcpy;
using ::memset;
using ::modf;
using ::nan;
using ::nearbyint;
using ::nearbyintf;
using ::nextafter;
using ::pow;
using ::powf;
using ::remainder;
using ::remquo;
using ::rint;
using ::rintf;
using ::round;
using ::roundf;
using ::scalbln;
using ::scalbn;
using ::signbit;
using ::sin;
using ::sinf;
using ::sinh;
using ::sinhf;
using ::sqrt;
using ::sqrtf;
using ::tan;
using ::tanf;
using ::tanh;
using ::tanhf;
using ::tgamma;
using ::trunc;
using ::truncf;
template <class T> __device__ constexpr bool isnormal(T x) {
    return (x < 0 ? -x : x) >= (sizeof(x) == 4 ? FLT_MIN : DBL_MIN) && (x < 0 ? -x : x) <= (sizeof(x) == 4 ? FLT_MAX : DBL_MAX);
}

template <class T> __device__ constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T> __device__ constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T, class F> __device__ constexpr const T &max(const T &a, const T &b, F less) { return less(a, b) ? b : a; }
template <class T, class F> __device__ constexpr const T &min(const T &a, const T &b, F less) { return less(b, a) ? b : a; }
template <class T> __device__ constexpr void swap(T &a, T &b) { T c = a; a = b; b = c; }

// A constant that is no variable in the module, unless its type is an enumeration.
template <class T, T V, bool = __is_enum(T)> struct hotloop_constant {
    enum : T { value = V };
};
template <class T, T V> struct hotloop_constant<T, V, true> { static constexpr T value = V; };
template <class T, T V> struct integral_constant : hotloop_constant<T, V> {
    using value_type = T;
    using type = integral_constant;
    __device__ constexpr operator T() const { return V; }
    __device__ constexpr T operator()() const { return V; }
};
template <bool B> using bool_constant = integral_constant<bool, B>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <bool B, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <class...> using void_t = void;

// A type that is derived from another one, and its short name.
#define HOTLOOP_TYPE(NAME, ...)                                                                              \
    template <class T> struct NAME { using type = __VA_ARGS__; };                                            \
    template <class T> using NAME##_t = typename NAME<T>::type;
#define HOTLOOP_TYPE_OF(NAME, FROM, TO) template <class T> struct NAME<FROM> { using type = TO; };
HOTLOOP_TYPE(remove_reference, T)
HOTLOOP_TYPE_OF(remove_reference, T &, T)
HOTLOOP_TYPE_OF(remove_reference, T &&, T)
HOTLOOP_TYPE(remove_const, T)
HOTLOOP_TYPE_OF(remove_const, const T, T)
HOTLOOP_TYPE(remove_volatile, T)
HOTLOOP_TYPE_OF(remove_volatile, volatile T, T)
HOTLOOP_TYPE(remove_cv, remove_const_t<remove_volatile_t<T>>)
HOTLOOP_TYPE(remove_cvref, remove_cv_t<remove_reference_t<T>>)
HOTLOOP_TYPE(remove_pointer, T)
HOTLOOP_TYPE_OF(remove_pointer, T *, T)
HOTLOOP_TYPE_OF(remove_pointer, T *const, T)
HOTLOOP_TYPE(add_const, const T)
HOTLOOP_TYPE(add_volatile, volatile T)
HOTLOOP_TYPE(add_cv, const volatile T)
HOTLOOP_TYPE(add_pointer, remove_reference_t<T> *)
HOTLOOP_TYPE(add_lvalue_reference, T &)
HOTLOOP_TYPE(add_rvalue_reference, T &&)
HOTLOOP_TYPE(type_identity, T)
HOTLOOP_TYPE(underlying_type, __underlying_type(T))
HOTLOOP_TYPE(remove_extent, T)
HOTLOOP_TYPE_OF(remove_extent, T[], T)
template <class T, size_t N> struct remove_extent<T[N]> { using type = T; };
HOTLOOP_TYPE(remove_all_extents, T)
HOTLOOP_TYPE_OF(remove_all_extents, T[], typename remove_all_extents<T>::type)
template <class T, size_t N> struct remove_all_extents<T[N]> : remove_all_extents<T> {};
#undef HOTLOOP_TYPE_OF
template <class T> T &&declval() noexcept;

// A question about types, its answer and its short name; first by what the compiler knows.
#define HOTLOOP_ASK(NAME, ...)                                                                               \
    template <class T> struct NAME : bool_constant<(__VA_ARGS__)> {};                                        \
    template <class T> inline constexpr bool NAME##_v = NAME<T>::value;
#define HOTLOOP_ASK_TWO(NAME, ...)                                                                           \
    template <class A, class B> struct NAME : bool_constant<(__VA_ARGS__)> {};                               \
    template <class A, class B> inline constexpr bool NAME##_v = NAME<A, B>::value;
HOTLOOP_ASK_TWO(is_same, false)
template <class A> struct is_same<A, A> : true_type {};
HOTLOOP_ASK_TWO(is_base_of, __is_base_of(A, B))
HOTLOOP_ASK_TWO(is_convertible, __is_convertible_to(A, B))
HOTLOOP_ASK_TWO(is_assignable, __is_assignable(A, B))
template <class T, class... A> struct is_constructible : bool_constant<__is_constructible(T, A...)> {};
template <class T, class... A> inline constexpr bool is_constructible_v = is_constructible<T, A...>::value;
HOTLOOP_ASK(is_class, __is_class(T))
HOTLOOP_ASK(is_enum, __is_enum(T))
HOTLOOP_ASK(is_union, __is_union(T))
HOTLOOP_ASK(is_empty, __is_empty(T))
HOTLOOP_ASK(is_pod, __is_pod(T))
HOTLOOP_ASK(is_trivial, __is_trivial(T))
HOTLOOP_ASK(is_trivially_copyable, __is_trivially_copyable(T))
HOTLOOP_ASK(is_trivially_destructible, __has_trivial_destructor(T))
HOTLOOP_ASK(is_standard_layout, __is_standard_layout(T))
HOTLOOP_ASK(is_default_constructible, __is_constructible(T))
HOTLOOP_ASK(is_const, false)
template <class T> struct is_const<const T> : true_type {};
HOTLOOP_ASK(is_volatile, false)
template <class T> struct is_volatile<volatile T> : true_type {};
HOTLOOP_ASK(is_lvalue_reference, false)
template <class T> struct is_lvalue_reference<T &> : true_type {};
HOTLOOP_ASK(is_rvalue_reference, false)
template <class T> struct is_rvalue_reference<T &&> : true_type {};
HOTLOOP_ASK(is_reference, is_lvalue_reference_v<T> || is_rvalue_reference_v<T>)
HOTLOOP_ASK(is_array, false)
template <class T> struct is_array<T[]> : true_type {};
template <class T, size_t N> struct is_array<T[N]> : true_type {};
HOTLOOP_ASK(is_function, !is_const_v<const T> && !is_reference_v<T>)
HOTLOOP_ASK(is_pointer, false)
template <class T> struct is_pointer<T *> : true_type {};
template <class T> struct is_pointer<T *const> : true_type {};
HOTLOOP_ASK(is_void, is_same_v<remove_cv_t<T>, void>)
HOTLOOP_ASK(is_null_pointer, is_same_v<remove_cv_t<T>, nullptr_t>)
template <class T, class... A> inline constexpr bool hotloop_is_one_of = (is_same_v<remove_cv_t<T>, A> || ...);
HOTLOOP_ASK(is_integral, hotloop_is_one_of<T, bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long, long long, unsigned long long, wchar_t, char16_t, char32_t>)
HOTLOOP_ASK(is_floating_point, hotloop_is_one_of<T, float, double, long double>)
HOTLOOP_ASK(is_arithmetic, is_integral_v<T> || is_floating_point_v<T>)
HOTLOOP_ASK(is_fundamental, is_arithmetic_v<T> || is_void_v<T> || is_null_pointer_v<T>)
HOTLOOP_ASK(is_scalar, is_arithmetic_v<T> || is_enum_v<T> || is_pointer_v<T> || is_null_pointer_v<T>)
template <class T, bool = is_arithmetic_v<T>> inline constexpr bool hotloop_is_signed = T(-1) < T(0);
template <class T> inline constexpr bool hotloop_is_signed<T, false> = false;
HOTLOOP_ASK(is_signed, hotloop_is_signed<T>)
HOTLOOP_ASK(is_unsigned, is_arithmetic_v<T> && !hotloop_is_signed<T>)
#undef HOTLOOP_ASK
#undef HOTLOOP_ASK_TWO

template <class T> struct hotloop_other_sign { using type = T; };
#define HOTLOOP_SIGNS(TYPE, UNSIGNED)                                                                        \
    template <> struct hotloop_other_sign<TYPE> { using type = UNSIGNED; };                                  \
    template <> struct hotloop_other_sign<UNSIGNED> { using type = TYPE; };
HOTLOOP_SIGNS(signed char, unsigned char)
HOTLOOP_SIGNS(short, unsigned short)
HOTLOOP_SIGNS(int, unsigned)
HOTLOOP_SIGNS(long, unsigned long)
HOTLOOP_SIGNS(long long, unsigned long long)
#undef HOTLOOP_SIGNS
HOTLOOP_TYPE(make_signed, conditional_t<is_signed_v<T>, T, typename hotloop_other_sign<T>::type>)
HOTLOOP_TYPE(make_unsigned, conditional_t<is_unsigned_v<T>, T, typename hotloop_other_sign<T>::type>)
template <> struct make_signed<char> { using type = signed char; };
template <> struct make_unsigned<char> { using type = unsigned char; };
HOTLOOP_TYPE(decay, conditional_t<is_array_v<remove_reference_t<T>>, remove_extent_t<remove_reference_t<T>> *, typename conditional<is_function_v<remove_reference_t<T>>, add_pointer<T>, remove_cvref<T>>::type::type>)
#undef HOTLOOP_TYPE
template <class... T> struct common_type;
template <class T> struct common_type<T> : decay<T> {};
template <class A, class B> struct common_type<A, B> { using type = decay_t<decltype(false ? declval<A>() : declval<B>())>; };
template <class A, class B, class C, class... R> struct common_type<A, B, C, R...> : common_type<typename common_type<A, B>::type, C, R...> {};
template <class... T> using common_type_t = typename common_type<T...>::type;
template <class F, class... A> struct invoke_result { using type = decltype(declval<F>()(declval<A>()...)); };
template <class F, class... A> using invoke_result_t = typename invoke_result<F, A...>::type;
template <class... B> struct conjunction : bool_constant<(bool(B::value) && ...)> {};
template <class... B> struct disjunction : bool_constant<(bool(B::value) || ...)> {};
template <class B> struct negation : bool_constant<!bool(B::value)> {};
template <class... B> inline constexpr bool conjunction_v = conjunction<B...>::value;
template <class... B> inline constexpr bool disjunction_v = disjunction<B...>::value;
template <class B> inline constexpr bool negation_v = negation<B>::value;
template <class T> struct alignment_of : integral_constant<size_t, alignof(T)> {};
template <class T> inline constexpr size_t alignment_of_v = alignof(T);
template <class T> struct rank : integral_constant<size_t, 0> {};
template <class T> struct rank<T[]> : integral_constant<size_t, rank<T>::value + 1> {};
template <class T, size_t N> struct rank<T[N]> : integral_constant<size_t, rank<T>::value + 1> {};
template <class T> inline constexpr size_t rank_v = rank<T>::value;
template <class T, unsigned I = 0> struct extent : integral_constant<size_t, 0> {};
template <class T, size_t N> struct extent<T[N], 0> : integral_constant<size_t, N> {};
template <class T, size_t N, unsigned I> struct extent<T[N], I> : extent<T, I - 1> {};
template <class T, unsigned I = 0> inline constexpr size_t extent_v = extent<T, I>::value;
template <size_t N, size_t A = 16> struct aligned_storage {
    struct type { alignas(A) unsigned char bytes[N]; };
};
template <size_t N, size_t A = 16> using aligned_storage_t = typename aligned_storage<N, A>::type;

template <class T, T... I> struct integer_sequence {
    using value_type = T;
    __device__ static constexpr size_t size() { return sizeof...(I); }
};
template <size_t... I> using index_sequence = integer_sequence<size_t, I...>;
template <class A, class B> struct hotloop_joined;
template <class T, T... A, T... B> struct hotloop_joined<integer_sequence<T, A...>, integer_sequence<T, B...>> {
    using type = integer_sequence<T, A..., (T(sizeof...(A)) + B)...>;
};
template <class T, size_t N> struct hotloop_counted : hotloop_joined<typename hotloop_counted<T, N / 2>::type, typename hotloop_counted<T, N - N / 2>::type> {};
template <class T> struct hotloop_counted<T, 0> { using type = integer_sequence<T>; };
template <class T> struct hotloop_counted<T, 1> { using type = integer_sequence<T, 0>; };
template <class T, T N> using make_integer_sequence = typename hotloop_counted<T, N>::type;
template <size_t N> using make_index_sequence = make_integer_sequence<size_t, N>;
template <class... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;

template <class A, class B> struct pair {
    using first_type = A;
    using second_type = B;
    A first;
    B second;
    constexpr pair() = default;
    __device__ constexpr pair(const A &a, const B &b) : first(a), second(b) {}
};
template <class A, class B> pair(A, B) -> pair<A, B>;
template <class A, class B> __device__ constexpr pair<decay_t<A>, decay_t<B>> make_pair(A &&a, B &&b) { return {a, b}; }
template <class T, size_t N> struct array {
    using value_type = T;
    T hotloop_elements[N ? N : 1];
    __device__ constexpr T &operator[](size_t i) { return hotloop_elements[i]; }
    __device__ constexpr const T &operator[](size_t i) const { return hotloop_elements[i]; }
    __device__ constexpr T *data() { return hotloop_elements; }
    __device__ constexpr const T *data() const { return hotloop_elements; }
    __device__ constexpr T *begin() { return hotloop_elements; }
    __device__ constexpr const T *begin() const { return hotloop_elements; }
    __device__ constexpr T *end() { return hotloop_elements + N; }
    __device__ constexpr const T *end() const { return hotloop_elements + N; }
    __device__ static constexpr size_t size() { return N; }
};

template <class T> struct numeric_limits;
#define HOTLOOP_LIMITS(TYPE, LEAST, LOWEST, MOST, EPSILON, INF, QNAN, TINIEST, DIGITS, DECIMALS, FLOATS)      \
    template <> struct numeric_limits<TYPE> {                                                                \
        enum : bool { is_specialized = true, is_signed = LOWEST < 0, is_integer = !FLOATS };                 \
        enum : bool { is_exact = !FLOATS, is_iec559 = FLOATS, is_bounded = true };                           \
        enum : bool { has_infinity = FLOATS, has_quiet_NaN = FLOATS };                                       \
        enum : int { digits = DIGITS, digits10 = DECIMALS, radix = 2 };                                      \
        __device__ static constexpr TYPE min() { return LEAST; }                                             \
        __device__ static constexpr TYPE lowest() { return LOWEST; }                                         \
        __device__ static constexpr TYPE max() { return MOST; }                                              \
        __device__ static constexpr TYPE epsilon() { return EPSILON; }                                       \
        __device__ static constexpr TYPE infinity() { return INF; }                                          \
        __device__ static constexpr TYPE quiet_NaN() { return QNAN; }                                        \
        __device__ static constexpr TYPE denorm_min() { return TINIEST; }                                    \
    };
#define HOTLOOP_INTEGERS(TYPE, LEAST, MOST, DIGITS) HOTLOOP_LIMITS(TYPE, LEAST, LEAST, MOST, 0, 0, 0, 0, DIGITS, DIGITS * 3 / 10, false)
HOTLOOP_LIMITS(float, FLT_MIN, -FLT_MAX, FLT_MAX, FLT_EPSILON, __builtin_bit_cast(float, 0x7f800000), __builtin_bit_cast(float, 0x7fffffff), FLT_TRUE_MIN, 24, 6, true)
HOTLOOP_LIMITS(double, DBL_MIN, -DBL_MAX, DBL_MAX, DBL_EPSILON, __builtin_bit_cast(double, 0x7ff0000000000000), __builtin_bit_cast(double, 0x7ff8000000000000), DBL_TRUE_MIN, 53, 15, true)
HOTLOOP_INTEGERS(bool, false, true, 1)
HOTLOOP_INTEGERS(char, SCHAR_MIN, SCHAR_MAX, 7)
HOTLOOP_INTEGERS(signed char, SCHAR_MIN, SCHAR_MAX, 7)
HOTLOOP_INTEGERS(unsigned char, 0, UCHAR_MAX, 8)
HOTLOOP_INTEGERS(short, SHRT_MIN, SHRT_MAX, 15)
HOTLOOP_INTEGERS(unsigned short, 0, USHRT_MAX, 16)
HOTLOOP_INTEGERS(int, INT_MIN, INT_MAX, 31)
HOTLOOP_INTEGERS(unsigned, 0, UINT_MAX, 32)
HOTLOOP_INTEGERS(long, LONG_MIN, LONG_MAX, 63)
HOTLOOP_INTEGERS(unsigned long, 0, ULONG_MAX, 64)
HOTLOOP_INTEGERS(long long, LLONG_MIN, LLONG_MAX, 63)
HOTLOOP_INTEGERS(unsigned long long, 0, ULLONG_MAX, 64)
#undef HOTLOOP_INTEGERS
#undef HOTLOOP_LIMITS
template <class T> struct numeric_limits<const T> : numeric_limits<T> {};
} // namespace std

namespace hotloop {
// The one of these functions that an overloaded name stands for.
template <class... F> struct overload;
template <class F> struct overload<F> {
    __device__ static constexpr F &of(F &f) { return f; }
};
template <class F, class... G> struct overload<F, G...> : overload<G...> {
    using overload<G...>::of;
    __device__ static constexpr F &of(F &f) { return f; }
};
} // namespace hotloop

#endif
