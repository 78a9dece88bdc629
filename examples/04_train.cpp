/* Lesson 4 in C++: training on all devices at once.  It prints what the lesson in C prints. */
#include <cstdio>
#include <tutti.hpp>

using namespace tutti;

struct Params { tt w, b; };
struct LossGrad { tt loss; Params grad; };
struct Step { Params params; tt loss; };

static tt loss(Params p, tt x, tt y)
{
    return mean(square(matmul(x, p.w) + p.b - y));
}

static tt descend(tt p, tt g)
{
    return p - 0.1 * g;
}

static Step step_alone(Params p, tt x, tt y)
{
    auto mine = call<LossGrad>(value_and_grad(loss), p, x, y);
    return { map(descend, p, mine.grad), mine.loss };
}

static Step step_together(Params p, tt x, tt y)
{
    auto ours = pmean(call<LossGrad>(value_and_grad(loss), p, x, y), "batch");
    return { map(descend, p, ours.grad), ours.loss };
}

static Params train(tt_fn step, Params p, tt x, tt y)
{
    for (int i = 0; i <= 60; i++) {
        scope here;
        auto next = call<Step>(step, p, x, y);
        if (i % 20 == 0)
            std::printf("    step %2d  loss %.5f\n", i, item(mean(next.loss)));
        assign(p, next.params);
    }
    return p;
}

int main()
{
    /* 128 points near the plane y = 2 x0 - 3 x1 + 1, in n parts. */
    int n = tt_device_count(), each = 128 / n;
    tt key = tt_key(0);
    float slope[] = { 2, -3 };
    tt x = normal(tt_next_key(&key), { n, each, 2 });
    tt noise = normal(tt_next_key(&key), { n, each, 1 });
    tt y = matmul(x, from(slope, { 2, 1 })) + 1 + 0.1 * noise;

    std::puts("each for itself:");
    Params many = train(pmap(step_alone), { zeros({ n, 2, 1 }), zeros({ n, 1 }) }, x, y);
    for (int i = 0; i < n; i++)
        std::printf("    device %d has w %.5f %.5f, b %.5f\n", i, item(index(many.w, { i, 0, 0 })),
                    item(index(many.w, { i, 1, 0 })), item(index(many.b, { i, 0 })));

    /* TT_NONE going in: everyone gets the same.  Coming out: everyone has the same. */
    std::puts("all together:");
    tt_pmap_options shared = {};
    shared.axis_name = "batch";
    shared.in_axes[0] = shared.out_axis = TT_NONE;
    Params one = train(pmap(step_together, shared), { zeros({ 2, 1 }), zeros({ 1 }) }, x, y);
    std::printf("    all have w %.5f %.5f, b %.5f\n", item(index(one.w, { 0, 0 })),
                item(index(one.w, { 1, 0 })), item(index(one.b, { 0 })));
}
