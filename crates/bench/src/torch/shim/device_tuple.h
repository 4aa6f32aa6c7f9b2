// What code for the GPU uses of `std::tuple`.
namespace std {
template <class... T> struct tuple;
template <> struct tuple<> {};
template <class A, class... R> struct tuple<A, R...> {
    A hotloop_first;
    tuple<R...> hotloop_rest;
    constexpr tuple() = default;
    __device__ constexpr tuple(const A &a, const R &...rest) : hotloop_first(a), hotloop_rest(rest...) {}
    template <class B, class... S> __device__ constexpr tuple(const tuple<B, S...> &from) : hotloop_first(from.hotloop_first), hotloop_rest(from.hotloop_rest) {}
    template <class B, class... S> __device__ constexpr tuple &operator=(const tuple<B, S...> &from) {
        hotloop_first = from.hotloop_first;
        hotloop_rest = from.hotloop_rest;
        return *this;
    }
    template <class B, class C> __device__ constexpr tuple &operator=(const pair<B, C> &from) { return *this = tuple<B, C>(from.first, from.second); }
};
template <class... T> tuple(T...) -> tuple<T...>;
template <class T> struct tuple_size;
template <class... T> struct tuple_size<tuple<T...>> : integral_constant<size_t, sizeof...(T)> {};
template <class T> struct tuple_size<const T> : tuple_size<T> {};
template <class T> inline constexpr size_t tuple_size_v = tuple_size<T>::value;
template <size_t I, class T> struct tuple_element;
template <class A, class... R> struct tuple_element<0, tuple<A, R...>> { typedef A type; };
template <size_t I, class A, class... R> struct tuple_element<I, tuple<A, R...>> : tuple_element<I - 1, tuple<R...>> {};
template <size_t I, class T> struct tuple_element<I, const T> { typedef const typename tuple_element<I, T>::type type; };
template <size_t I, class T> using tuple_element_t = typename tuple_element<I, T>::type;
template <size_t I, class A, class... R> __device__ constexpr tuple_element_t<I, tuple<A, R...>> &get(tuple<A, R...> &of) {
    if constexpr (I == 0) return of.hotloop_first;
    else return get<I - 1>(of.hotloop_rest);
}
template <size_t I, class A, class... R> __device__ constexpr const tuple_element_t<I, tuple<A, R...>> &get(const tuple<A, R...> &of) {
    if constexpr (I == 0) return of.hotloop_first;
    else return get<I - 1>(of.hotloop_rest);
}
template <size_t I, class A, class... R> __device__ constexpr tuple_element_t<I, tuple<A, R...>> &&get(tuple<A, R...> &&of) {
    return static_cast<tuple_element_t<I, tuple<A, R...>> &&>(get<I>(of));
}
template <class T, class A, class... R> __device__ constexpr T &get(tuple<A, R...> &of) {
    if constexpr (is_same<T, A>::value) return of.hotloop_first;
    else return get<T>(of.hotloop_rest);
}
template <size_t I, class A, class B> __device__ constexpr auto &get(pair<A, B> &of) {
    if constexpr (I == 0) return of.first;
    else return of.second;
}
template <size_t I, class A, class B> __device__ constexpr const auto &get(const pair<A, B> &of) {
    if constexpr (I == 0) return of.first;
    else return of.second;
}
template <size_t I, class T, size_t N> __device__ constexpr T &get(array<T, N> &of) { return of[I]; }
template <size_t I, class T, size_t N> __device__ constexpr const T &get(const array<T, N> &of) { return of[I]; }
template <class... T> __device__ constexpr tuple<decay_t<T>...> make_tuple(T &&...values) { return {values...}; }
template <class... T> __device__ constexpr tuple<T &...> tie(T &...values) { return {values...}; }
template <class F, class T, size_t... I> __device__ constexpr decltype(auto) hotloop_apply(F &&f, T &&of, index_sequence<I...>) { return f(get<I>(of)...); }
template <class F, class T> __device__ constexpr decltype(auto) apply(F &&f, T &&of) {
    return hotloop_apply(f, of, make_index_sequence<tuple_size<decay_t<T>>::value>());
}
}
