// Values of time: durations and points in time, matched by their members, without <chrono>.
#pragma once

#include "codec.hpp"

SP_DETAIL_BEGIN

// Durations and points in time of <chrono>, as nanoseconds in 64 bits; values beyond (292 years) are clamped.
template <class T>
concept DurationLike = requires(const T& value) {
    typename T::rep;
    { T::period::num + T::period::den } -> std::integral;
    { value.count() } -> std::same_as<typename T::rep>;
};

template <class T>
concept TimePointLike = requires(const T& value) {
    typename T::clock;
    requires DurationLike<std::remove_cvref_t<decltype(value.time_since_epoch())>>;
    T::clock::now();
};

// A number times kUp, divided by kDown, towards zero, without wider integers. What has no room is the least
// or the largest number.
template <std::uint64_t kUp, std::uint64_t kDown, class Number>
constexpr std::int64_t scaled(Number number) {
    constexpr std::uint64_t kCommon = [] {
        std::uint64_t a = kUp, b = kDown;
        for (std::uint64_t rest = 0; b != 0; b = rest) rest = a % b, a = b;
        return a;
    }();
    constexpr std::uint64_t kNum = kUp / kCommon, kDen = kDown / kCommon, kMost = 0x7FFFFFFFFFFFFFFF;
    const bool is_negative = number < Number{};
    const std::uint64_t magnitude =
        is_negative ? ~static_cast<std::uint64_t>(number) + 1 : static_cast<std::uint64_t>(number);
    const std::uint64_t whole = magnitude / kDen, rest = magnitude % kDen * kNum / kDen;
    const std::uint64_t limit = kMost + is_negative;
    if (whole > limit / kNum || whole * kNum > limit - rest)
        return is_negative ? -static_cast<std::int64_t>(kMost) - 1 : static_cast<std::int64_t>(kMost);
    const std::uint64_t found = whole * kNum + rest;
    return static_cast<std::int64_t>(is_negative ? ~found + 1 : found);
}

template <DurationLike T>
constexpr std::int64_t nanoseconds_of(const T& value) {
    constexpr std::int64_t kLeast = -0x7FFFFFFFFFFFFFFF - 1, kMost = 0x7FFFFFFFFFFFFFFF;
    if constexpr (std::floating_point<typename T::rep>) {
        const double ns = static_cast<double>(value.count()) * 1e9 * static_cast<double>(T::period::num) /
                          static_cast<double>(T::period::den);
        if (ns >= 9.2e18 || ns <= -9.2e18) return ns > 0 ? kMost : kLeast;
        return ns == ns ? static_cast<std::int64_t>(ns) : 0;
    } else if constexpr (std::is_signed_v<typename T::rep> && T::period::num == 1 &&
                         T::period::den == 1'000'000'000) {
        return static_cast<std::int64_t>(value.count());
    } else {
#if SP_DETAIL_HAS_INT128
        __extension__ using Wide128 = __int128;
        Wide128 ns = 0;
        if (__builtin_mul_overflow(static_cast<Wide128>(value.count()) * 1'000'000'000,
                                   static_cast<Wide128>(T::period::num), &ns))
            return value.count() > typename T::rep{} ? kMost : kLeast;
        ns /= T::period::den;
        return ns > kMost ? kMost : ns < kLeast ? kLeast : static_cast<std::int64_t>(ns);
#else
        static_assert(T::period::num <= 9'000'000'000, "a unit of time longer than 285 years");
        return scaled<1'000'000'000 * static_cast<std::uint64_t>(T::period::num),
                      static_cast<std::uint64_t>(T::period::den)>(value.count());
#endif
    }
}

// Ticks shorter than a nanosecond would be lost: such durations are recorded as their number of ticks, with
// the unit.
template <class T>
concept FineDuration =
    DurationLike<T> && std::integral<typename T::rep> && T::period::den / T::period::num > 1'000'000'000;

template <FineDuration T>
constexpr void add_unit(auto& out) {
    const std::intmax_t den = T::period::den;
    if (T::period::num == 1 && den == 1'000'000'000'000) {
        out.add(std::string_view("ps"));
    } else if (T::period::num == 1 && den == 1'000'000'000'000'000) {
        out.add(std::string_view("fs"));
    } else {  // as operator<< of durations writes it
        out.add('[');
        out.number(static_cast<std::size_t>(T::period::num));
        out.add('/');
        out.number(static_cast<std::size_t>(den));
        out.add(std::string_view("]s"));
    }
}

template <DurationLike T>
struct Codec<T> {
    static constexpr std::size_t fixed = 8;
    static constexpr void sign(Signer& out) { out.add('T'); }
    static constexpr std::size_t size(const T&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const T& value) {
        return put_bytes(out, nanoseconds_of(value));
    }
};

template <FineDuration T>
struct Codec<T> : Codec<typename T::rep> {
    using Rep = Codec<typename T::rep>;
    static constexpr void sign(Signer& out) {
        out.add("@unit=");
        add_unit<T>(out);
        out.add(';');
        Rep::sign(out);
    }
    static constexpr std::size_t size(const T&) { return Rep::fixed; }
    SP_DETAIL_HOT static char* put(char* out, const T& value) { return Rep::put(out, value.count()); }
};

// A point in time of the system's clock, or of one that can be converted to it. One of another clock is the
// duration since its epoch.
template <TimePointLike T>
struct Codec<T> {
    static constexpr std::size_t fixed = 8;
    static constexpr bool kConverts = requires(const T& value) { T::clock::to_sys(value); };
    static constexpr bool kIsDate = kConverts || requires(const T& value) { T::clock::to_time_t(value); };
    static constexpr void sign(Signer& out) {
        if constexpr (!kIsDate) {
            out.add("@clock=");
            constexpr std::string_view name = silverpoint::detail::type_name<typename T::clock>();
            out.name(name.substr(name.rfind(':') + 1));
            out.add(';');
        }
        out.add(kIsDate ? 't' : 'T');
    }
    static constexpr std::size_t size(const T&) { return fixed; }
    static std::int64_t nanoseconds(const T& value) {
        if constexpr (kConverts) {
            return nanoseconds_of(T::clock::to_sys(value).time_since_epoch());
        } else {
            return nanoseconds_of(value.time_since_epoch());
        }
    }
    SP_DETAIL_HOT static char* put(char* out, const T& value) { return put_bytes(out, nanoseconds(value)); }
};

SP_DETAIL_END
