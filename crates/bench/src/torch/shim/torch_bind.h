// From an extension's functions to calls: values come as words, and what a function returns goes back as
// an event that nobody trusts.
#pragma once

namespace hotloop {
namespace torch {

// Kinds of values, in requests and in returns.
enum Value : uint64_t { NONE, TENSOR, INT, FLOAT, BOOL, LIST, TEXT };

// A request: the function's name, positional values, named values.
struct Reader {
    const unsigned char *at;
    void *const *buffers;
    uint64_t word() { uint64_t read; memcpy(&read, at, 8); at += 8; return read; }
    std::string text() {
        const uint64_t length = word();
        std::string read((const char *)at, length);
        at += (length + 7) / 8 * 8;
        return read;
    }
};

struct Given {
    Value kind = NONE;
    int64_t integer = 0;
    double number = 0;
    std::string text;
    at::Tensor tensor;
    std::vector<Given> list;
};

inline Given read(Reader &from) {
    Given given;
    given.kind = (Value)from.word();
    switch (given.kind) {
    case TENSOR: {
        at::Tensor &tensor = given.tensor;
        tensor.is_defined = true;
        const uint64_t buffer = from.word();
        tensor.address = (uint64_t)from.buffers[buffer] + from.word();
        tensor.element = (c10::ScalarType)from.word();
        const uint64_t count = from.word();
        for (uint64_t i = 0; i < count; i++) tensor.shape.push_back((int64_t)from.word());
        for (uint64_t i = 0; i < count; i++) tensor.steps.push_back((int64_t)from.word());
        break;
    }
    case INT: case BOOL: given.integer = (int64_t)from.word(); break;
    case FLOAT: { const uint64_t bits = from.word(); memcpy(&given.number, &bits, 8); break; }
    case TEXT: given.text = from.text(); break;
    case LIST: { const uint64_t count = from.word(); for (uint64_t i = 0; i < count; i++) given.list.push_back(read(from)); break; }
    default: break;
    }
    return given;
}

struct Mismatch : std::runtime_error { using std::runtime_error::runtime_error; };

template <class T> struct IsList : std::false_type {};
template <class T> struct IsList<std::vector<T>> : std::true_type { typedef T Inner; };
template <class T> struct IsMaybe : std::false_type {};
template <class T> struct IsMaybe<std::optional<T>> : std::true_type { typedef T Inner; };

template <class T>
T as(const Given &given) {
    const auto wrong = [](const char *wanted) -> T { throw Mismatch(wanted); };
    if constexpr (std::is_same_v<T, at::Tensor>) {
        if (given.kind == NONE) return at::Tensor();
        return given.kind == TENSOR ? given.tensor : wrong("a tensor");
    } else if constexpr (IsMaybe<T>::value) {
        if (given.kind == NONE) return std::nullopt;
        return as<typename IsMaybe<T>::Inner>(given);
    } else if constexpr (std::is_same_v<T, c10::IntArrayRef>) {
        return given.kind == LIST ? c10::IntArrayRef(as<std::vector<int64_t>>(given)) : wrong("a list of integers");
    } else if constexpr (IsList<T>::value) {
        if (given.kind != LIST) return wrong("a list");
        T made;
        for (const Given &one : given.list) made.push_back(as<typename IsList<T>::Inner>(one));
        return made;
    } else if constexpr (std::is_same_v<T, std::string>) {
        return given.kind == TEXT ? given.text : wrong("a text");
    } else if constexpr (std::is_same_v<T, bool>) {
        return given.kind == BOOL ? given.integer != 0 : wrong("a bool");
    } else if constexpr (std::is_same_v<T, c10::Scalar>) {
        return given.kind == FLOAT ? c10::Scalar(given.number) : c10::Scalar(given.integer);
    } else if constexpr (std::is_same_v<T, c10::ScalarType>) {
        return given.kind == INT ? (c10::ScalarType)given.integer : wrong("a type");
    } else if constexpr (std::is_floating_point_v<T>) {
        if (given.kind == INT || given.kind == BOOL) return (T)given.integer;
        return given.kind == FLOAT ? (T)given.number : wrong("a number");
    } else {
        static_assert(std::is_integral_v<T>, "an extension's functions take tensors, numbers, texts and lists of them");
        return given.kind == INT || given.kind == BOOL ? (T)given.integer : wrong("an integer");
    }
}

struct Writer {
    std::vector<uint64_t> words;
    void put(uint64_t word) { words.push_back(word); }
    void value(const at::Tensor &tensor) {
        if (!tensor.is_defined) return put(NONE);
        if (tensor.host) refuse("a function of the extension returns a tensor on the CPU");
        put(TENSOR), put(tensor.address), put((uint64_t)tensor.element), put(tensor.shape.size());
        for (int64_t size : tensor.shape) put((uint64_t)size);
        for (int64_t step : tensor.steps) put((uint64_t)step);
    }
    void value(bool given) { put(BOOL), put(given); }
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>>
    void value(T given) {
        if constexpr (std::is_integral_v<T>) return put(INT), put((uint64_t)(int64_t)given);
        const double wide = (double)given;
        uint64_t bits;
        memcpy(&bits, &wide, 8);
        put(FLOAT), put(bits);
    }
    template <class T> void value(const std::vector<T> &list) {
        put(LIST), put(list.size());
        for (const T &one : list) value(one);
    }
    template <class... Ts> void value(const std::tuple<Ts...> &parts) {
        put(LIST), put(sizeof...(Ts));
        std::apply([&](const Ts &...one) { (value(one), ...); }, parts);
    }
    template <class A, class B> void value(const std::pair<A, B> &pair) { put(LIST), put(2), value(pair.first), value(pair.second); }
};

// What is called, and with what; `hotloop_bind` looks for it.
struct Request {
    std::string name;
    std::vector<Given> values;
    std::vector<std::pair<std::string, Given>> named;
    bool is_answered = false;
};

}  // namespace torch
}  // namespace hotloop

namespace pybind11 {

struct none {};

// A parameter's name, and what stands for it where a call leaves it out.
struct arg {
    std::string name;
    bool has_default = false;
    hotloop::torch::Given otherwise;
    explicit arg(const char *name) : name(name) {}
    arg &noconvert(bool = true) { return *this; }
    arg &none(bool = true) { return *this; }
    template <class T> arg operator=(const T &value) const {
        arg made = *this;
        made.has_default = true;
        made.otherwise = given(value);
        return made;
    }

private:
    template <class T> static hotloop::torch::Given given(const T &value) {
        using namespace hotloop::torch;
        Given made;
        if constexpr (std::is_same_v<T, bool>) made.kind = BOOL, made.integer = value;
        else if constexpr (std::is_integral_v<T>) made.kind = INT, made.integer = (int64_t)value;
        else if constexpr (std::is_floating_point_v<T>) made.kind = FLOAT, made.number = value;
        else if constexpr (std::is_convertible_v<T, std::string>) made.kind = TEXT, made.text = value;
        else if constexpr (std::is_same_v<T, c10::ScalarType>) made.kind = INT, made.integer = (int64_t)value;
        else if constexpr (std::is_same_v<T, at::Tensor>) {
            if (value.is_defined) made.kind = TENSOR, made.tensor = value;
        } else if constexpr (IsList<T>::value) {
            made.kind = LIST;
            for (const auto &one : value) made.list.push_back(given(one));
        } else if constexpr (IsMaybe<T>::value) {
            if (value) made = given(*value);
        } else {
            static_assert(std::is_same_v<T, pybind11::none> || std::is_same_v<T, std::nullopt_t>,
                          "a default is a number, a text, a list of them, None, or a tensor that is not defined");
        }
        return made;
    }
};
struct arg_v : arg {
    template <class T> arg_v(const char *name, const T &value, const char * = nullptr) : arg(arg(name) = value) {}
};
struct call_guard_nothing {};
struct gil_scoped_release {};
template <class... Ts> struct call_guard {};
namespace literals { inline arg operator""_a(const char *name, size_t) { return arg(name); } }

struct module_ {
    hotloop::torch::Request &request;

    template <class R, class... As, class... Extra>
    module_ &def(const char *name, R (*function)(As...), const Extra &...extra) {
        return bind<R, As...>(name, [function](As... values) -> R { return function(std::forward<As>(values)...); }, extra...);
    }
    template <class F, class... Extra>
    module_ &def(const char *name, const F &function, const Extra &...extra) { return of_callable(name, function, &F::operator(), extra...); }
    template <class T> void attr(T &&) {}
    const char *&doc() { static const char *text; return text; }

private:
    template <class F, class R, class... As, class... Extra>
    module_ &of_callable(const char *name, const F &function, R (F::*)(As...) const, const Extra &...extra) {
        return bind<R, As...>(name, function, extra...);
    }
    template <class T> static void collect(std::vector<arg> &to, const T &one) {
        if constexpr (std::is_base_of_v<arg, T>) to.push_back(one);
    }

    template <class R, class... As, class F, class... Extra>
    module_ &bind(const char *name, const F &function, const Extra &...extra) {
        using namespace hotloop::torch;
        if (request.is_answered || request.name != name) return *this;
        std::vector<arg> parameters;
        (collect(parameters, extra), ...);
        std::vector<Given> values;
        if (!arranged(sizeof...(As), parameters, values)) return *this;
        Writer writer;
        call<R, As...>(function, values, std::index_sequence_for<As...>(), writer);
        request.is_answered = true;
        hotloop::event(hotloop::RETURNED, writer.words.data(), 8 * writer.words.size());
        return *this;
    }
    template <class R, class... As, class F, size_t... I>
    void call(const F &function, const std::vector<hotloop::torch::Given> &values, std::index_sequence<I...>, hotloop::torch::Writer &writer) {
        using namespace hotloop::torch;
        std::tuple<std::decay_t<As>...> own(as<std::decay_t<As>>(values[I])...);
        if constexpr (std::is_void_v<R>) {
            function(std::get<I>(own)...);
            writer.put(NONE);
        } else {
            writer.value(function(std::get<I>(own)...));
        }
    }
    // The values in the order of the parameters; false if they do not fit.
    bool arranged(size_t count, const std::vector<arg> &parameters, std::vector<hotloop::torch::Given> &to) {
        to = request.values;
        if (to.size() > count) return false;
        size_t used = 0;
        while (to.size() < count) {
            if (to.size() >= parameters.size()) return false;
            const arg &parameter = parameters[to.size()];
            const hotloop::torch::Given *found = parameter.has_default ? &parameter.otherwise : nullptr;
            for (const auto &named : request.named) if (named.first == parameter.name) found = &named.second, used++;
            if (!found) return false;
            to.push_back(*found);
        }
        // A name that no parameter has, or one of a value that was given by its place.
        return used == request.named.size();
    }
};
typedef module_ module;

}  // namespace pybind11
namespace py = pybind11;

#define TORCH_EXTENSION_NAME hotloop_extension
#define PYBIND11_MODULE(name, variable) extern "C" void hotloop_bind(::pybind11::module_ &variable)
#define TORCH_LIBRARY(name, variable) static_assert(false, "TORCH_LIBRARY is not supported; use the functions of load_inline")
