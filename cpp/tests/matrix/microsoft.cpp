// What Microsoft's compiler has another way for: names of types, and durations without integers of 128 bits.
#include <silverpoint/chrono.hpp>
#include <silverpoint/silverpoint.hpp>

namespace {

using silverpoint::detail::scaled;
using silverpoint::detail::type_in_signature;

constexpr std::string_view kStart = "type_name<";
static_assert(type_in_signature("class std::basic_string_view<char,struct std::char_traits<char> > __cdecl "
                                "silverpoint::v1::detail::type_name<struct shop::Order>(void)",
                                kStart) == "shop::Order");
static_assert(
    type_in_signature("auto __cdecl type_name<class std::vector<int,class std::allocator<int> >>(void)",
                      kStart) == "std::vector<int,class std::allocator<int> >");
static_assert(type_in_signature("auto __cdecl type_name<enum Colour>(void) noexcept", kStart) == "Colour");
static_assert(type_in_signature("auto __cdecl other(void)", kStart).empty());

constexpr std::int64_t kLeast = -0x7FFFFFFFFFFFFFFF - 1, kMost = 0x7FFFFFFFFFFFFFFF;
static_assert(scaled<1'000'000'000, 1>(std::int64_t{-3}) == -3'000'000'000);
static_assert(scaled<1'000'000'000, 1>(std::int64_t{9'223'372'036}) == 9'223'372'036'000'000'000);
static_assert(scaled<1'000'000'000, 1>(std::int64_t{9'223'372'037}) == kMost);
static_assert(scaled<1'000'000'000, 1>(std::int64_t{-9'223'372'037}) == kLeast);
static_assert(scaled<1, 3>(std::int64_t{-10}) == -3);
static_assert(scaled<1'000'000'000, 60>(2) == 33'333'333);
static_assert(scaled<5, 5>(kLeast) == kLeast && scaled<5, 5>(kMost) == kMost);
static_assert(scaled<5, 5>(~std::uint64_t{0}) == kMost);

}  // namespace

// A statement each stands where a lambda expression must find what is around it.
struct Shop {
    int id = 1;
    template <class T>
    void sell(T price) const {
        const auto [first, second] = std::pair{id, price};
        SP_INFO("order {} at {} {}", id, first, second);
        if (price > T{})
            SP_WARN << "sold" << price << id;
        else
            SP_LOG(error, "shop", "none {}", id);
        const auto later = [this, price] { SP_EVENT("later", id, price); };
        later();
        SP_SCOPE();
    }
};

void sell() {
    Shop().sell(2.5);
    SP_INFO("waited {}", std::chrono::duration<long long, std::ratio<1, 60>>(5));
}
