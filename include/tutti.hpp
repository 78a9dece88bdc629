/* tutti.hpp - tutti.h for C++17: operators, trees by their types, C++ functions and lambdas traced as they
 * are.
 *
 *     tt f(tt x) { return x * x + tutti::sin(x); }
 *
 *     tutti::print(tutti::call(tutti::pmap(f), x));
 *
 * Everything of tutti.h is there under its own name.  Namespace tutti has what C++ can say shorter: an
 * operand may be a number, a list of numbers is written { 4, 2 }, results have the type that the function
 * says, and every operation remembers the line that wrote it.  Options are tutti.h's structs; their size
 * is filled in.  Failures are told as in C (tt_on_error); nothing is thrown. */
#ifndef TUTTI_HPP
#define TUTTI_HPP
#include <cstring>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tutti.h>

namespace tutti {

/* ---- Operands, lists, trees ------------------------------------------------ */

/* Where a call was written: a default argument has the caller's line. */
#define TUTTI_HERE                                                                     \
    const char *file = __builtin_FILE(), int line = __builtin_LINE(),                  \
    const char *function = __builtin_FUNCTION()

/* An array, or a number that takes its partner's type. */
struct operand {
    tt x;
    operand(tt value, TUTTI_HERE) : x(value) { tt_at(file, line, function); }
    template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
    operand(N value, TUTTI_HERE) : x{}
    {
        tt_at(file, line, function);
        if constexpr (std::is_floating_point_v<N>)
            x = tt_scalar(static_cast<double>(value));
        else
            x = tt_integer(static_cast<int64_t>(value));
    }
    operator tt() const { return x; }
};

/* A shape, or axes.  It is handed to the functions of tutti.h as it is: tt_reshape(x, dims{ 4, 2 }). */
struct dims : tt_dims {
    dims() : tt_dims{} {}
    dims(std::initializer_list<int64_t> list) : tt_dims{}
    {
        for (int64_t extent : list)
            if (n < TT_MAX_RANK)
                v[n++] = extent;
    }
    operator const tt_dims *() const { return this; }
};

template <class T> constexpr bool is_tree =
    std::is_class_v<T> && std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(tt) == 0;
template <class T> constexpr int leaves = static_cast<int>(sizeof(T) / sizeof(tt));

template <class T> tt_tree tree(const T &x)
{
    static_assert(is_tree<T>, "a tree is a tt or a struct of nothing but tt");
    return { reinterpret_cast<const tt *>(&x), leaves<T> };
}

/* As many arrays as a T has, as one. */
template <class T> T as(const tt *from)
{
    static_assert(is_tree<T>, "a tree is a tt or a struct of nothing but tt");
    T out;
    std::memcpy(static_cast<void *>(&out), from, sizeof out);
    return out;
}

/* ---- Scopes ---------------------------------------------------------------- */

/* Arrays made while it lives end with it: tutti::scope here; */
class scope {
    tt_scope s = tt_scope_begin();

public:
    scope() = default;
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    ~scope() { tt_scope_end(&s); }
};

template <class T> T keep(const T &x) { return as<T>(tt_keep_n(tree(x))); }
template <class T> void assign(T &variable, const T &x)
{
    tt_assign_n(reinterpret_cast<tt *>(&variable), tree(x));
}

/* ---- Functions --------------------------------------------------------------- */

template <class F> struct signature : signature<decltype(&F::operator())> {};
template <class R, class... A> struct signature<R (*)(A...)> {
    using result = R;
    using arguments = std::tuple<std::decay_t<A>...>;
    static constexpr int nleaves[] = { leaves<std::decay_t<A>>..., 0 };
    static constexpr bool are_trees = is_tree<R> && (is_tree<std::decay_t<A>> && ...);
};
template <class C, class R, class... A> struct signature<R (C::*)(A...) const> : signature<R (*)(A...)> {};
template <class C, class R, class... A> struct signature<R (C::*)(A...)> : signature<R (*)(A...)> {};

template <class F, std::size_t... I>
typename signature<F>::result apply_to(const F &f, const tt_tree *args, std::index_sequence<I...>)
{
    using arguments = typename signature<F>::arguments;
    (void)args;
    return f(as<std::tuple_element_t<I, arguments>>(args[I].leaf)...);
}

/* How the library calls an F: user points to one, or, of a function, is its address. */
template <class F> int apply_function(void *user, const tt_tree *args, int, tt *results, int)
{
    using S = signature<F>;
    using numbers = std::make_index_sequence<std::tuple_size_v<typename S::arguments>>;
    typename S::result r = [&] {
        if constexpr (std::is_pointer_v<F>)
            return apply_to(reinterpret_cast<F>(user), args, numbers{});
        else
            return apply_to(*static_cast<const F *>(user), args, numbers{});
    }();
    std::memcpy(static_cast<void *>(results), &r, sizeof r);
    return leaves<typename S::result>;
}

/* A traceable function of a function, a lambda, or any object with one operator(), which take and give
 * trees.  A function is the same each time; an object is copied, for ever, and every copy is a function of
 * its own: make it once. */
template <class G> tt_fn fn(G g, TUTTI_HERE)
{
    using F = std::decay_t<G>;
    if constexpr (std::is_same_v<F, tt_fn>) {
        tt_at(file, line, function);
        return g;
    } else {
        using S = signature<F>;
        static_assert(S::are_trees, "its arguments and its result are tt or structs of nothing but tt");
        constexpr std::size_t n = std::tuple_size_v<typename S::arguments>;
        static_assert(n <= TT_MAX_ARGS, "at most 16 arguments are possible");
        tt_closure c{};
        c.size = sizeof c;
        c.apply = apply_function<F>;
        if constexpr (std::is_pointer_v<F>)
            c.user = reinterpret_cast<void *>(g);
        else
            c.user = new F(std::move(g));
        c.name = function;
        c.file = file;
        c.line = line;
        c.nargs = static_cast<int>(n);
        for (std::size_t i = 0; i < n; i++)
            c.nleaves[i] = S::nleaves[i];
        c.nresults = leaves<typename S::result>;
        tt_at(file, line, function);
        return tt_fn_new(&c);
    }
}

/* A function that may be any of these, with the line where it was handed over. */
struct callee {
    tt_fn f;
    template <class F> callee(F g, TUTTI_HERE) : f(fn(g, file, line, function)) {}
};

/* call<Step>(f, ...) gives a Step; without a type, one array. */
template <class R = tt, class... A> R call(callee f, const A &...args)
{
    const tt_tree trees[] = { tree(args)..., tt_tree{} };
    return as<R>(tt_call_n(f.f, trees, static_cast<int>(sizeof...(A)), leaves<R>));
}

/* f of the arrays of one place, for each place of trees of one type. */
template <class T, class... Ts> T map(callee f, const T &first, const Ts &...others)
{
    static_assert((std::is_same_v<T, Ts> && ...), "the trees are of one type");
    const tt_tree trees[] = { tree(first), tree(others)... };
    return as<T>(tt_map_n(f.f, trees, 1 + static_cast<int>(sizeof...(Ts)), leaves<T>));
}

#define TUTTI_TRANSFORM(name)                                                          \
    inline tt_fn name(callee f, tt_##name##_options options = {})                      \
    {                                                                                  \
        options.size = sizeof options;                                                 \
        return tt_##name##_with(f.f, &options);                                        \
    }
TUTTI_TRANSFORM(jit)
TUTTI_TRANSFORM(vmap)
TUTTI_TRANSFORM(pmap)
TUTTI_TRANSFORM(jvp)
TUTTI_TRANSFORM(grad)
TUTTI_TRANSFORM(shard_map)
#undef TUTTI_TRANSFORM
inline tt_fn value_and_grad(callee f, tt_grad_options options = {})
{
    options.size = sizeof options;
    return tt_value_and_grad_with(f.f, &options);
}
inline tt_fn vjp(callee f, tt_grad_options options = {})
{
    options.size = sizeof options;
    return tt_vjp_with(f.f, &options);
}

/* ---- Collectives, on trees ----------------------------------------------------- */

template <class T>
T meet(tt_collective kind, const T &x, const char *axis, tt_collective_options options = {})
{
    options.size = sizeof options;
    return as<T>(tt_collective_n(tree(x), kind, axis, &options));
}
template <class T> T psum(const T &x, const char *axis) { return meet(TT_PSUM, x, axis); }
template <class T> T pmean(const T &x, const char *axis) { return meet(TT_PMEAN, x, axis); }
template <class T> T pmax(const T &x, const char *axis) { return meet(TT_PMAX, x, axis); }
template <class T> T pmin(const T &x, const char *axis) { return meet(TT_PMIN, x, axis); }
template <class T> T all_gather(const T &x, const char *axis) { return meet(TT_ALL_GATHER, x, axis); }

/* ---- Arrays and operations ------------------------------------------------------ */

template <class T> void print(const T &x) { tt_print_n(tree(x)); }
inline tt zeros(const dims &shape, tt_dtype type = TT_F32) { return tt_full(type, 0, shape); }
inline tt ones(const dims &shape, tt_dtype type = TT_F32) { return tt_full(type, 1, shape); }
inline tt normal(operand key, const dims &shape, tt_dtype type = TT_F32)
{
    return tt_normal(key, type, shape);
}
inline tt uniform(operand key, const dims &shape, tt_dtype type = TT_F32)
{
    return tt_uniform(key, type, shape);
}

template <class N> constexpr tt_dtype type_of()
{
    static_assert(std::is_arithmetic_v<N>, "arrays are of numbers");
    if constexpr (std::is_same_v<N, bool>)
        return TT_BOOL;
    else if constexpr (std::is_floating_point_v<N>)
        return sizeof(N) == 4 ? TT_F32 : TT_F64;
    else {
        constexpr tt_dtype first = std::is_signed_v<N> ? TT_I8 : TT_U8;
        constexpr int power = sizeof(N) == 1 ? 0 : sizeof(N) == 2 ? 1 : sizeof(N) == 4 ? 2 : 3;
        return static_cast<tt_dtype>(first + power);
    }
}
template <class N> tt from(const N *data, const dims &shape)
{
    return tt_from(type_of<N>(), data, 0, shape);
}
template <class N, std::size_t n> tt from(const N (&data)[n], const dims &shape)
{
    return tt_from(type_of<N>(), data, sizeof data, shape);
}

#define TUTTI_UNARY(name)  inline tt name(operand x) { return tt_##name(x); }
#define TUTTI_BINARY(name) inline tt name(operand a, operand b) { return tt_##name(a, b); }
#define TUTTI_REDUCE(name) \
    inline tt name(operand x, const dims &axes = {}) { return tt_##name(x, axes); }
TUTTI_UNARY(abs) TUTTI_UNARY(sign) TUTTI_UNARY(exp) TUTTI_UNARY(expm1) TUTTI_UNARY(log)
TUTTI_UNARY(log1p) TUTTI_UNARY(tanh) TUTTI_UNARY(sin) TUTTI_UNARY(cos) TUTTI_UNARY(tan)
TUTTI_UNARY(sqrt) TUTTI_UNARY(rsqrt) TUTTI_UNARY(square) TUTTI_UNARY(sigmoid) TUTTI_UNARY(relu)
TUTTI_UNARY(gelu) TUTTI_UNARY(silu) TUTTI_UNARY(softplus) TUTTI_UNARY(floor) TUTTI_UNARY(ceil)
TUTTI_UNARY(round) TUTTI_UNARY(isnan) TUTTI_UNARY(isfinite) TUTTI_UNARY(erf)
TUTTI_UNARY(stop_gradient)
TUTTI_BINARY(pow) TUTTI_BINARY(mod) TUTTI_BINARY(max) TUTTI_BINARY(min) TUTTI_BINARY(atan2)
TUTTI_BINARY(equal) TUTTI_BINARY(not_equal) TUTTI_BINARY(matmul) TUTTI_BINARY(cross_entropy)
TUTTI_REDUCE(sum) TUTTI_REDUCE(mean) TUTTI_REDUCE(prod) TUTTI_REDUCE(amax) TUTTI_REDUCE(amin)
TUTTI_REDUCE(any) TUTTI_REDUCE(all) TUTTI_REDUCE(var) TUTTI_REDUCE(std) TUTTI_REDUCE(norm)
TUTTI_REDUCE(logsumexp) TUTTI_REDUCE(softmax) TUTTI_REDUCE(log_softmax) TUTTI_REDUCE(transpose)
TUTTI_REDUCE(squeeze) TUTTI_REDUCE(flip)
#undef TUTTI_UNARY
#undef TUTTI_BINARY
#undef TUTTI_REDUCE
inline tt reshape(operand x, const dims &shape) { return tt_reshape(x, shape); }
inline tt broadcast(operand x, const dims &shape) { return tt_broadcast(x, shape); }
inline tt index(operand x, const dims &at) { return tt_index(x, at); }
inline tt where(operand condition, operand a, operand b) { return tt_where(condition, a, b); }
inline tt clip(operand x, operand low, operand high) { return tt_clip(x, low, high); }
inline double item(operand x) { return tt_item(x); }

} // namespace tutti

/* Where `tt` is declared, so that they are found; == and != are no comparisons of handles, and so are
 * named: tutti::equal(a, b). */
#define TUTTI_OPERATOR(sign, f) \
    inline tt operator sign(tutti::operand a, tutti::operand b) { return f(a, b); }
TUTTI_OPERATOR(+, tt_add)
TUTTI_OPERATOR(-, tt_sub)
TUTTI_OPERATOR(*, tt_mul)
TUTTI_OPERATOR(/, tt_div)
TUTTI_OPERATOR(%, tt_mod)
TUTTI_OPERATOR(<, tt_less)
TUTTI_OPERATOR(<=, tt_less_equal)
TUTTI_OPERATOR(>, tt_greater)
TUTTI_OPERATOR(>=, tt_greater_equal)
TUTTI_OPERATOR(&, tt_and)
TUTTI_OPERATOR(|, tt_or)
TUTTI_OPERATOR(^, tt_xor)
#undef TUTTI_OPERATOR
inline tt operator-(tutti::operand x) { return tt_neg(x); }
inline tt operator~(tutti::operand x) { return tt_not(x); }
#define TUTTI_OPERATOR(sign) \
    inline tt &operator sign##=(tt &a, tutti::operand b) { return a = a sign b; }
TUTTI_OPERATOR(+)
TUTTI_OPERATOR(-)
TUTTI_OPERATOR(*)
TUTTI_OPERATOR(/)
#undef TUTTI_OPERATOR
#undef TUTTI_HERE
#endif
