// Recording in the program's own operator new: it takes no memory there, or it would never end.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <silverpoint/atrace.hpp>
#include <silverpoint/format.hpp>

#include "support/traced.hpp"

namespace {

namespace atrace = silverpoint::atrace;

// What this thread's allocations do; and how many were made while one did it.
using OnNew = void (*)(std::size_t size);
thread_local constinit OnNew on_new = nullptr;
thread_local constinit int depth = 0, nested = 0;

[[gnu::noinline]] void* allocate(std::size_t size) {
    if (on_new != nullptr) {
        // It is bounded, so that a recursion fails the test instead of the stack.
        nested += depth > 0 ? 1 : 0;
        if (++depth < 100) on_new(size);
        --depth;
    }
    return std::malloc(size);
}
[[gnu::noinline]] void release(void* memory) { std::free(memory); }

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }

namespace {

// How many allocations were made within those of other sizes, first ones and later ones.
int nested_in(OnNew what) {
    nested = 0;
    on_new = what;
    for (int round = 0; round < 2; ++round)
        for (std::size_t size = 40; size < 60; ++size) ::operator delete(::operator new(size));
    on_new = nullptr;
    return nested;
}

TEST(Allocator, AtraceOfNamesThatAreMadeAsTheProgramRuns) {
    // The first use of all is within an allocation, too.
    EXPECT_EQ(nested_in([](std::size_t size) {
                  char name[64];
                  const int length = std::snprintf(name, sizeof name, "allocates %zu", size);
                  const std::string_view text(name, static_cast<std::size_t>(length));
                  atrace::begin(atrace::kApp, text);
                  atrace::int64(atrace::kApp, text, static_cast<std::int64_t>(size));
                  atrace::async_begin(atrace::kApp,
                                      "a name that is longer than those that are compared at once", 1);
                  atrace::end(atrace::kApp);
              }),
              0);
    std::size_t begun = 0;
    for (const auto& seen : traced::take()) begun += seen.site.text == "allocates 47";
    EXPECT_EQ(begun, 4);  // with the counter, twice
}

TEST(Allocator, FunctionsOfFormat) {
    EXPECT_EQ(nested_in([](std::size_t size) {
                  silverpoint::info("allocates {}", size);
                  silverpoint::info("allocates");
                  silverpoint::info(size % 2 == 0 ? "even" : "odds");
              }),
              0);
    EXPECT_EQ(traced::take().size(), 120);
}

}  // namespace
