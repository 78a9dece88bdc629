// Foreign functions as a JAX user writes them for XLA's CPU backend, with jaxlib's headers;
// test_ffi.py compiles them and calls them on both engines.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "xla/ffi/api/c_api.h"
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

// y = by * x + sum(shifts)
static ffi::Error ScaleImpl(float by, ffi::Span<const int64_t> shifts, std::string_view name,
                            bool negate, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y)
{
    if (name != "scale")
        return ffi::Error(ffi::ErrorCode::kInvalidArgument, "the name is " + std::string(name));
    float shift = 0;
    for (int64_t s : shifts)
        shift += static_cast<float>(s);
    for (size_t i = 0; i < x.element_count(); i++)
        y->typed_data()[i] = (negate ? -by : by) * x.typed_data()[i] + shift;
    return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Scale, ScaleImpl,
                              ffi::Ffi::Bind()
                                  .Attr<float>("by")
                                  .Attr<ffi::Span<const int64_t>>("shifts")
                                  .Attr<std::string_view>("name")
                                  .Attr<bool>("negate")
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>());

// Bytes in the order in which they lie, whatever the layout; and the extents.
static ffi::Error MemoryImpl(ffi::AnyBuffer x, ffi::ResultBuffer<ffi::U8> bytes,
                             ffi::ResultBuffer<ffi::S64> dims)
{
    std::memcpy(bytes->typed_data(), x.untyped_data(), x.size_bytes());
    for (size_t i = 0; i < x.dimensions().size(); i++)
        dims->typed_data()[i] = x.dimensions()[i];
    dims->typed_data()[x.dimensions().size()] = static_cast<int64_t>(x.element_type());
    return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Memory, MemoryImpl,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::Buffer<ffi::U8>>()
                                  .Ret<ffi::Buffer<ffi::S64>>());

// A dictionary inside the attributes, scratch memory, tasks, the number of threads.
static ffi::Error TasksImpl(ffi::ThreadPool pool, ffi::ScratchAllocator scratch,
                            ffi::Dictionary options, ffi::Buffer<ffi::S32> x,
                            ffi::ResultBuffer<ffi::S32> y)
{
    auto times = options.get<int64_t>("times");
    if (times.has_error())
        return times.error();
    auto room = scratch.Allocate(x.size_bytes());
    if (!room || pool.num_threads() < 1)
        return ffi::Error::Internal("no memory, or no threads");
    int32_t *copy = static_cast<int32_t *>(*room);
    std::memcpy(copy, x.typed_data(), x.size_bytes());
    std::atomic<int64_t> left(static_cast<int64_t>(x.element_count()));
    for (size_t i = 0; i < x.element_count(); i++)
        pool.Schedule([&, i] {
            y->typed_data()[i] = copy[i] * static_cast<int32_t>(*times);
            left.fetch_sub(1);
        });
    while (left.load() > 0)
        std::this_thread::yield();
    return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Tasks, TasksImpl,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Ctx<ffi::ScratchAllocator>()
                                  .Attr<ffi::Dictionary>("options")
                                  .Arg<ffi::Buffer<ffi::S32>>()
                                  .Ret<ffi::Buffer<ffi::S32>>());

// A result that comes later, from another thread; or an error.
static ffi::Future LaterImpl(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y)
{
    ffi::Promise promise;
    ffi::Future future(promise);
    std::thread([x, out = y->typed_data(), promise]() mutable {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        for (size_t i = 0; i < x.element_count(); i++)
            out[i] = x.typed_data()[i] + 1;
        if (x.typed_data()[0] < 0)
            promise.SetError(
                ffi::Error(ffi::ErrorCode::kFailedPrecondition, "it came late and is negative"));
        else
            promise.SetAvailable();
    }).detach();
    return future;
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    Later, LaterImpl, ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

// A state that is made once and counts the calls.
struct Counter {
    static ffi::TypeId id;
    static ffi::TypeInfo info;
    explicit Counter(int64_t from) : n(from)
    {
        alive++;
    }
    ~Counter()
    {
        alive--;
    }
    std::atomic<int64_t> n;
    static std::atomic<int64_t> alive;
};
ffi::TypeId Counter::id = {};
ffi::TypeInfo Counter::info = ffi::MakeTypeInfo<Counter>();
std::atomic<int64_t> Counter::alive{ 0 };

static ffi::ErrorOr<std::unique_ptr<Counter>> CounterInstantiate(int64_t from)
{
    return std::make_unique<Counter>(from);
}
static ffi::Error CounterExecute(Counter *counter, ffi::ResultBuffer<ffi::S64> y)
{
    y->typed_data()[0] = counter->n.fetch_add(1);
    return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(CountBegin, CounterInstantiate,
                              ffi::Ffi::BindInstantiate().Attr<int64_t>("from"));
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    Count, CounterExecute,
    ffi::Ffi::Bind().Ctx<ffi::State<Counter>>().Ret<ffi::Buffer<ffi::S64>>());

extern "C" void *counter_id()
{
    return &Counter::id;
}
extern "C" void *counter_info()
{
    return &Counter::info;
}
extern "C" int64_t counters_alive()
{
    return Counter::alive.load();
}
