// Element types, devices, lists of sizes, options.
#pragma once

namespace c10 {

enum class ScalarType : int8_t {
    Byte = 0, Char = 1, Short = 2, Int = 3, Long = 4, Half = 5, Float = 6, Double = 7, Bool = 11,
    BFloat16 = 15, Undefined = 127,
};
using Half = ::__half;
using BFloat16 = ::__nv_bfloat16;

inline size_t elementSize(ScalarType type) {
    switch (type) {
    case ScalarType::Byte: case ScalarType::Char: case ScalarType::Bool: return 1;
    case ScalarType::Short: case ScalarType::Half: case ScalarType::BFloat16: return 2;
    case ScalarType::Long: case ScalarType::Double: return 8;
    default: return 4;
    }
}
inline const char *toString(ScalarType type) {
    switch (type) {
    case ScalarType::Byte: return "Byte";
    case ScalarType::Char: return "Char";
    case ScalarType::Short: return "Short";
    case ScalarType::Int: return "Int";
    case ScalarType::Long: return "Long";
    case ScalarType::Half: return "Half";
    case ScalarType::Float: return "Float";
    case ScalarType::Double: return "Double";
    case ScalarType::Bool: return "Bool";
    case ScalarType::BFloat16: return "BFloat16";
    default: return "Undefined";
    }
}
inline bool isFloatingType(ScalarType type) {
    return type == ScalarType::Half || type == ScalarType::Float || type == ScalarType::Double || type == ScalarType::BFloat16;
}
inline bool isIntegralType(ScalarType type, bool with_bool = false) { return !isFloatingType(type) && (with_bool || type != ScalarType::Bool); }

template <class T> struct CppTypeToScalarType;
#define HOTLOOP_TYPES(each) \
    each(uint8_t, Byte) each(int8_t, Char) each(int16_t, Short) each(int, Int) each(int64_t, Long) each(long long, Long) \
    each(Half, Half) each(float, Float) each(double, Double) each(bool, Bool) each(BFloat16, BFloat16)
#define HOTLOOP_TYPE(type, name) \
    template <> struct CppTypeToScalarType<type> { static constexpr ScalarType value = ScalarType::name; };
HOTLOOP_TYPES(HOTLOOP_TYPE)
#undef HOTLOOP_TYPE
template <ScalarType of> struct ScalarTypeToCpp;
#define HOTLOOP_TYPE(cpp, name) template <> struct ScalarTypeToCpp<ScalarType::name> { typedef cpp type; };
HOTLOOP_TYPE(uint8_t, Byte) HOTLOOP_TYPE(int8_t, Char) HOTLOOP_TYPE(int16_t, Short) HOTLOOP_TYPE(int, Int)
HOTLOOP_TYPE(int64_t, Long) HOTLOOP_TYPE(Half, Half) HOTLOOP_TYPE(float, Float) HOTLOOP_TYPE(double, Double)
HOTLOOP_TYPE(bool, Bool) HOTLOOP_TYPE(BFloat16, BFloat16)
#undef HOTLOOP_TYPE

struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
    const char *what_without_backtrace() const { return what(); }
};

enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
using DeviceIndex = int8_t;

struct Device {
    DeviceType kind;
    int number;
    Device(DeviceType kind, int number = -1) : kind(kind), number(number) {}
    Device(const std::string &text) : kind(text.rfind("cuda", 0) == 0 ? kCUDA : kCPU), number(-1) {}
    Device(const char *text) : Device(std::string(text)) {}
    DeviceType type() const { return kind; }
    bool is_cuda() const { return kind == kCUDA; }
    bool is_cpu() const { return kind == kCPU; }
    int index() const { return is_cuda() ? 0 : -1; }
    bool has_index() const { return is_cuda(); }
    std::string str() const { return is_cuda() ? "cuda:0" : "cpu"; }
    bool operator==(const Device &other) const { return kind == other.kind; }
    bool operator!=(const Device &other) const { return kind != other.kind; }
};
inline std::ostream &operator<<(std::ostream &to, const Device &) { return to; }

// A list of sizes that owns them, so that it outlives what it was made from.
struct IntArrayRef {
    std::vector<int64_t> list;
    IntArrayRef() {}
    IntArrayRef(int64_t one) : list{one} {}
    IntArrayRef(std::initializer_list<int64_t> from) : list(from) {}
    template <class I> IntArrayRef(const std::vector<I> &from) : list(from.begin(), from.end()) {}
    template <class I, size_t N> IntArrayRef(const std::array<I, N> &from) : list(from.begin(), from.end()) {}
    template <class I> IntArrayRef(const I *from, size_t count) : list(from, from + count) {}
    size_t size() const { return list.size(); }
    bool empty() const { return list.empty(); }
    int64_t operator[](size_t at) const { return list.at(at); }
    int64_t at(size_t at) const { return list.at(at); }
    int64_t front() const { return list.at(0); }
    int64_t back() const { return list.at(list.size() - 1); }
    const int64_t *data() const { return list.data(); }
    std::vector<int64_t>::const_iterator begin() const { return list.begin(); }
    std::vector<int64_t>::const_iterator end() const { return list.end(); }
    std::vector<int64_t> vec() const { return list; }
    IntArrayRef slice(size_t from, size_t count) const { return IntArrayRef(list.data() + from, count); }
    bool equals(const IntArrayRef &other) const { return list == other.list; }
    bool operator==(const IntArrayRef &other) const { return list == other.list; }
    bool operator!=(const IntArrayRef &other) const { return list != other.list; }
    operator std::vector<int64_t>() const { return list; }
};
// `for (auto i : c10::irange(n))`.
struct Counted {
    struct At {
        int64_t at;
        int64_t operator*() const { return at; }
        At &operator++() { at++; return *this; }
        bool operator!=(const At &other) const { return at != other.at; }
    };
    int64_t from, to;
    At begin() const { return {from}; }
    At end() const { return {to}; }
};
inline Counted irange(int64_t to) { return {0, std::max<int64_t>(to, 0)}; }
inline Counted irange(int64_t from, int64_t to) { return {from, std::max(from, to)}; }
inline std::ostream &operator<<(std::ostream &to, const IntArrayRef &) { return to; }
inline std::ostream &operator<<(std::ostream &to, ScalarType) { return to; }
template <class T> using ArrayRef = std::vector<T>;
template <class T> using optional = std::optional<T>;
constexpr std::nullopt_t nullopt = std::nullopt;

enum class MemoryFormat { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
enum class Layout { Strided };
constexpr Layout kStrided = Layout::Strided;

// A type as `dtype()` gives it: it compares with types, and goes where one is wanted.
struct TypeMeta {
    ScalarType type;
    operator ScalarType() const { return type; }
    ScalarType toScalarType() const { return type; }
    size_t itemsize() const { return elementSize(type); }
    std::string name() const { return toString(type); }
};
inline ScalarType typeMetaToScalarType(TypeMeta meta) { return meta.type; }

// What is not said of a tensor that is made like another one is as there.
struct TensorOptions {
    ScalarType type = ScalarType::Float;
    DeviceType kind = kCPU;
    bool has_type = false, has_kind = false;
    std::optional<MemoryFormat> format;
    TensorOptions() {}
    TensorOptions(ScalarType type) : type(type), has_type(true) {}
    TensorOptions(TypeMeta meta) : TensorOptions(meta.type) {}
    TensorOptions(Device device) : kind(device.kind), has_kind(true) {}
    TensorOptions(DeviceType kind) : kind(kind), has_kind(true) {}
    TensorOptions(MemoryFormat format) : format(format) {}
    TensorOptions dtype(ScalarType of) const { TensorOptions made = *this; made.type = of; made.has_type = true; return made; }
    TensorOptions dtype(TypeMeta of) const { return dtype(of.type); }
    TensorOptions dtype(std::optional<ScalarType> of) const { return of ? dtype(*of) : *this; }
    TensorOptions device(Device of) const { TensorOptions made = *this; made.kind = of.kind; made.has_kind = true; return made; }
    TensorOptions device(DeviceType of, int = 0) const { return device(Device(of)); }
    TensorOptions device_index(int) const { return device(kCUDA); }
    TensorOptions requires_grad(bool) const { return *this; }
    TensorOptions layout(Layout) const { return *this; }
    TensorOptions memory_format(MemoryFormat of) const { TensorOptions made = *this; made.format = of; return made; }
    TensorOptions pinned_memory(bool) const { return *this; }
    TensorOptions or_else(const TensorOptions &other) const {
        TensorOptions made = *this;
        if (!has_type) made.type = other.type, made.has_type = other.has_type;
        if (!has_kind) made.kind = other.kind, made.has_kind = other.has_kind;
        return made;
    }
    ScalarType dtype() const { return type; }
    Device device() const { return kind; }
};
#define LEGACY_CONTIGUOUS_MEMORY_FORMAT ::c10::MemoryFormat::Contiguous

// A number of either kind.
struct Scalar {
    double value;
    bool is_integral;
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Scalar(T from) : value((double)from), is_integral(std::is_integral_v<T>) {}
    template <class T> T to() const { return (T)value; }
    double toDouble() const { return value; }
    float toFloat() const { return (float)value; }
    int64_t toLong() const { return (int64_t)value; }
    int toInt() const { return (int)value; }
};

}  // namespace c10
