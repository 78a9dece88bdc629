/* Lambdas as traced functions: what they capture is theirs for ever. */
#include <cstdio>
#include <tutti.hpp>

using namespace tutti;

struct Pair { tt a, b; };

static tt cube(tt x)
{
    return x * x * x;
}

static tt_fn scaled(double by)
{
    return fn([by](tt x) { return by * square(x); });
}

int main()
{
    float numbers[] = { 1, 2, 3 };
    tt x = from(numbers, { 3 });
    print(call(jit(scaled(3)), x));
    print(call(vmap(grad([](tt y) { return y * y; })), x));
    x -= 2;
    print(x);
    print(x >= 0);

    auto swapped = call<Pair>([](Pair p) { return Pair{ p.b, p.a }; }, Pair{ x, call(grad(cube), tt_scalar(0.5)) });
    print(swapped.a);

    /* A mistake is told with its line. */
    tt_on_error(nullptr, nullptr);
    float two[] = { 1, 2 };
    tt y = x + from(two, { 2 });
    (void)y;
    std::puts(tt_error());
}
