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

#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_EPSILON 1.19209289550781250000000000000000000e-7f
#define FLT_MAX 3.40282346638528859811704183484516925e+38f
#define FLT_MIN 1.17549435082228750796873653722224568e-38f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_EPSILON 2.22044604925031308084726333618164062e-16
#define DBL_MAX 1.79769313486231570814527423731704357e+308
#define DBL_MIN 2.22507385850720138309023271733240406e-308

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
using size_t = decltype(sizeof(0));
using ptrdiff_t = decltype(static_cast<char *>(nullptr) - static_cast<char *>(nullptr));
using nullptr_t = decltype(nullptr);

using ::abs;
using ::acos;
using ::asin;
using ::atan;
using ::atan2;
using ::cbrt;
using ::ceil;
using ::cos;
using ::cosh;
using ::erf;
using ::exp;
using ::exp2;
using ::expm1;
using ::fabs;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::fmod;
using ::hypot;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::pow;
using ::round;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
using ::trunc;

template <class T> __device__ constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T> __device__ constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T, class F> __device__ constexpr const T &max(const T &a, const T &b, F less) { return less(a, b) ? b : a; }
template <class T, class F> __device__ constexpr const T &min(const T &a, const T &b, F less) { return less(b, a) ? b : a; }
template <class T> __device__ constexpr void swap(T &a, T &b) { T c = a; a = b; b = c; }

template <class T, T V> struct integral_constant {
    using value_type = T;
    enum : T { value = V }; // no variable in the module
};
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <bool B, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <class T> struct remove_reference { using type = T; };
template <class T> struct remove_reference<T &> { using type = T; };
template <class T> struct remove_reference<T &&> { using type = T; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_cv { using type = T; };
template <class T> struct remove_cv<const T> { using type = T; };
template <class T> struct remove_cv<volatile T> { using type = T; };
template <class T> struct remove_cv<const volatile T> { using type = T; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;

template <class T> struct numeric_limits;
#define HOTLOOP_LIMITS(TYPE, LEAST, LOWEST, MOST, EPSILON, INF, QNAN)                                        \
    template <> struct numeric_limits<TYPE> {                                                                \
        __device__ static constexpr TYPE min() { return LEAST; }                                             \
        __device__ static constexpr TYPE lowest() { return LOWEST; }                                         \
        __device__ static constexpr TYPE max() { return MOST; }                                              \
        __device__ static constexpr TYPE epsilon() { return EPSILON; }                                       \
        __device__ static constexpr TYPE infinity() { return INF; }                                          \
        __device__ static constexpr TYPE quiet_NaN() { return QNAN; }                                        \
    };
HOTLOOP_LIMITS(float, FLT_MIN, -FLT_MAX, FLT_MAX, FLT_EPSILON, __builtin_bit_cast(float, 0x7f800000), __builtin_bit_cast(float, 0x7fffffff))
HOTLOOP_LIMITS(double, DBL_MIN, -DBL_MAX, DBL_MAX, DBL_EPSILON, __builtin_bit_cast(double, 0x7ff0000000000000), __builtin_bit_cast(double, 0x7ff8000000000000))
HOTLOOP_LIMITS(signed char, SCHAR_MIN, SCHAR_MIN, SCHAR_MAX, 0, 0, 0)
HOTLOOP_LIMITS(unsigned char, 0, 0, UCHAR_MAX, 0, 0, 0)
HOTLOOP_LIMITS(short, SHRT_MIN, SHRT_MIN, SHRT_MAX, 0, 0, 0)
HOTLOOP_LIMITS(unsigned short, 0, 0, USHRT_MAX, 0, 0, 0)
HOTLOOP_LIMITS(int, INT_MIN, INT_MIN, INT_MAX, 0, 0, 0)
HOTLOOP_LIMITS(unsigned, 0, 0, UINT_MAX, 0, 0, 0)
HOTLOOP_LIMITS(long, LONG_MIN, LONG_MIN, LONG_MAX, 0, 0, 0)
HOTLOOP_LIMITS(unsigned long, 0, 0, ULONG_MAX, 0, 0, 0)
HOTLOOP_LIMITS(long long, LLONG_MIN, LLONG_MIN, LLONG_MAX, 0, 0, 0)
HOTLOOP_LIMITS(unsigned long long, 0, 0, ULLONG_MAX, 0, 0, 0)
#undef HOTLOOP_LIMITS
} // namespace std

#endif
