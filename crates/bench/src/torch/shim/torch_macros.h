// Checks and dispatch by type.
#pragma once

namespace hotloop {
namespace torch {
// A message of parts; what does not print as text is left out.
inline void add(std::string &to, const char *part) { to += part; }
inline void add(std::string &to, const std::string &part) { to += part; }
inline void add(std::string &to, char part) { to += part; }
inline void add(std::string &to, bool part) { to += part ? "1" : "0"; }
template <class T>
void add(std::string &to, const T &part) {
    if constexpr (std::is_arithmetic_v<T>) to += std::to_string(part);
}
template <class... Ts>
[[noreturn]] void raise(const char *otherwise, const Ts &...parts) {
    std::string text;
    (add(text, parts), ...);
    throw c10::Error(text.empty() ? otherwise : text);
}
}  // namespace torch
}  // namespace hotloop

#define TORCH_CHECK(condition, ...) \
    do { if (!(condition)) ::hotloop::torch::raise("TORCH_CHECK: " #condition, ##__VA_ARGS__); } while (0)
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
#define TORCH_CHECK_VALUE TORCH_CHECK
#define TORCH_CHECK_TYPE TORCH_CHECK
#define TORCH_CHECK_INDEX TORCH_CHECK
#define TORCH_CHECK_NOT_IMPLEMENTED TORCH_CHECK
#define TORCH_CHECK_ARG(condition, number, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b))
#define TORCH_CHECK_NE(a, b) TORCH_CHECK((a) != (b))
#define TORCH_CHECK_LT(a, b) TORCH_CHECK((a) < (b))
#define TORCH_CHECK_LE(a, b) TORCH_CHECK((a) <= (b))
#define TORCH_CHECK_GT(a, b) TORCH_CHECK((a) > (b))
#define TORCH_CHECK_GE(a, b) TORCH_CHECK((a) >= (b))
#define TORCH_WARN(...) ((void)0)
#define TORCH_WARN_ONCE(...) ((void)0)
#define AT_ASSERT(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_ERROR(...) ::hotloop::torch::raise("AT_ERROR", ##__VA_ARGS__)
#define C10_CUDA_CHECK(call) \
    do { const cudaError_t hotloop_error = (call); TORCH_CHECK(hotloop_error == cudaSuccess, cudaGetErrorString(hotloop_error)); } while (0)
#define AT_CUDA_CHECK C10_CUDA_CHECK
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define C10_UNUSED __attribute__((unused))
#define TORCH_API

#define HOTLOOP_CASE(name, type, ...) \
    case ::c10::ScalarType::name: { using scalar_t = type; return __VA_ARGS__(); }
#define HOTLOOP_SWITCH(of, label, ...) \
    [&] { \
        const ::c10::ScalarType hotloop_type = (of); \
        switch (hotloop_type) { \
            __VA_ARGS__ \
            default: ::hotloop::torch::raise("", '"', std::string(label), "\" not implemented for '", ::c10::toString(hotloop_type), "'"); \
        } \
    }()
#define HOTLOOP_FLOATS(...) HOTLOOP_CASE(Float, float, __VA_ARGS__) HOTLOOP_CASE(Double, double, __VA_ARGS__)
#define HOTLOOP_INTEGERS(...) \
    HOTLOOP_CASE(Byte, uint8_t, __VA_ARGS__) HOTLOOP_CASE(Char, int8_t, __VA_ARGS__) HOTLOOP_CASE(Short, int16_t, __VA_ARGS__) \
    HOTLOOP_CASE(Int, int, __VA_ARGS__) HOTLOOP_CASE(Long, int64_t, __VA_ARGS__)
#define HOTLOOP_HALVES(...) HOTLOOP_CASE(Half, ::__half, __VA_ARGS__)
#define HOTLOOP_BHALVES(...) HOTLOOP_CASE(BFloat16, ::__nv_bfloat16, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(of, label, ...) HOTLOOP_SWITCH(of, label, HOTLOOP_FLOATS(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(of, label, ...) HOTLOOP_SWITCH(of, label, HOTLOOP_FLOATS(__VA_ARGS__) HOTLOOP_HALVES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(more, of, label, ...) AT_DISPATCH_FLOATING_TYPES_AND_HALF(of, label, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(more, other, of, label, ...) \
    HOTLOOP_SWITCH(of, label, HOTLOOP_FLOATS(__VA_ARGS__) HOTLOOP_HALVES(__VA_ARGS__) HOTLOOP_BHALVES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(of, label, ...) HOTLOOP_SWITCH(of, label, HOTLOOP_INTEGERS(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(of, label, ...) HOTLOOP_SWITCH(of, label, HOTLOOP_FLOATS(__VA_ARGS__) HOTLOOP_INTEGERS(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_HALF(of, label, ...) \
    HOTLOOP_SWITCH(of, label, HOTLOOP_FLOATS(__VA_ARGS__) HOTLOOP_INTEGERS(__VA_ARGS__) HOTLOOP_HALVES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(more, of, label, ...) AT_DISPATCH_ALL_TYPES_AND2(more, more, of, label, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(more, other, of, label, ...) \
    HOTLOOP_SWITCH(of, label, HOTLOOP_FLOATS(__VA_ARGS__) HOTLOOP_INTEGERS(__VA_ARGS__) HOTLOOP_HALVES(__VA_ARGS__) HOTLOOP_BHALVES(__VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(of, label, ...) \
    HOTLOOP_SWITCH(of, label, HOTLOOP_HALVES(__VA_ARGS__) HOTLOOP_BHALVES(__VA_ARGS__))
#define AT_DISPATCH_INDEX_TYPES(of, label, ...) \
    HOTLOOP_SWITCH(of, label, HOTLOOP_INDEX(Int, int, __VA_ARGS__) HOTLOOP_INDEX(Long, int64_t, __VA_ARGS__))
#define HOTLOOP_INDEX(name, type, ...) \
    case ::c10::ScalarType::name: { using index_t = type; return __VA_ARGS__(); }
#define AT_DISPATCH_SWITCH(of, label, ...) HOTLOOP_SWITCH(of, label, __VA_ARGS__)
#define AT_DISPATCH_CASE(of, ...) \
    case of: { using scalar_t = typename ::c10::ScalarTypeToCpp<of>::type; return __VA_ARGS__(); }
#define AT_DISPATCH_CASE_FLOATING_TYPES(...) HOTLOOP_FLOATS(__VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...) HOTLOOP_INTEGERS(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) HOTLOOP_FLOATS(__VA_ARGS__) HOTLOOP_INTEGERS(__VA_ARGS__)
