// USDT probes at the places of tracepoints (spec/usdt.md). Only programs compiled with SILVERPOINT_USDT have
// them.
//
//   semaphore not 0 ─▶ usdt_mark: the site is found, even if it is off ─▶ usdt_fire: the arguments, taken
//   apart into numbers, and a `nop` ─▶ the record, if the site is on
//
// All of this is in types and functions of its own: files with and without probes may be linked together.
#pragma once

#include "../c/usdt.h"
#include "front.hpp"
#include "percent.hpp"
#include "spans.hpp"
#include "unit.hpp"
#include "usdt_held.hpp"
#include "usdt_name.hpp"

SP_DETAIL_BEGIN

// Whether a tracer is attached to any probe of this program or shared library.
SP_DETAIL_INLINE bool usdt_is_attached() {
    return __atomic_load_n(&silverpoint_usdt_semaphore, __ATOMIC_RELAXED) != 0;
}

// What SP_DETAIL_FOUND gives while a tracer is attached.
SP_DETAIL_INLINE void* usdt_mark(void* found, void* place) {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(place) | kUsdtHit |
                                   (found == nullptr ? kUsdtOff : 0));
}
SP_DETAIL_INLINE bool usdt_is_hit(void* found) { return (reinterpret_cast<std::uintptr_t>(found) & 1) != 0; }
SP_DETAIL_INLINE bool usdt_is_on(void* found) { return (reinterpret_cast<std::uintptr_t>(found) & 2) == 0; }
SP_DETAIL_INLINE void* usdt_place(void* found) {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(found) & ~(kUsdtHit | kUsdtOff));
}

// --- Arguments as numbers of 1 to 8 bytes.

// A number as an integer of the same size and sign; of a floating-point number its bits.
template <class T>
SP_DETAIL_INLINE auto usdt_number(T value) {
    if constexpr (std::is_enum_v<T>) {
        return usdt_number(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::same_as<T, float>) {
        return __builtin_bit_cast(std::uint32_t, value);
    } else if constexpr (std::floating_point<T>) {
        return __builtin_bit_cast(std::uint64_t, static_cast<double>(value));
    } else if constexpr (std::same_as<T, bool>) {
        return static_cast<std::uint8_t>(value);
    } else {
        return value;
    }
}
SP_DETAIL_INLINE std::uint64_t usdt_address(const volatile void* address) {
    return reinterpret_cast<std::uintptr_t>(address);
}

template <class T>
inline constexpr bool kIsTagged = false;
template <class Key, class Said, class T>
inline constexpr bool kIsTagged<Tagged<Key, Said, T>> = true;
template <class T>
inline constexpr bool kIsTextRef = false;
template <class Char>
inline constexpr bool kIsTextRef<TextRef<Char>> = true;
template <class T>
inline constexpr bool kIsArrayRef = false;
template <class T>
inline constexpr bool kIsArrayRef<ArrayRef<T>> = true;

// Optional values that have zeros in their place when there is none.
template <class T>
concept OptionalNumber = OptionalLike<T> && Small<std::remove_cvref_t<decltype(*std::declval<const T&>())>>;
template <class T>
concept OptionalText = OptionalLike<T> && TextLike<std::remove_cvref_t<decltype(*std::declval<const T&>())>>;

// The most numbers that tools read of one probe.
inline constexpr std::size_t kUsdtMost = 12;

template <std::size_t kLeft, class Then>
SP_DETAIL_INLINE void usdt_spread(const Then& then) {
    then();
}

// Calls `then` with the numbers of a value, as it was captured.
template <std::size_t kLeft, class T, class Then>
SP_DETAIL_INLINE void usdt_spread_one(const T& value, const Then& then);

// Calls `then` with the numbers of all values, in order, and of no more values once there are `kLeft`.
template <std::size_t kLeft, class Then, class T, class... Rest>
SP_DETAIL_INLINE void usdt_spread(const Then& then, const T& first, const Rest&... rest) {
    if constexpr (kLeft == 0) {
        then();
    } else {
        const auto go_on = [&](auto... numbers) __attribute__((always_inline)) {
            constexpr std::size_t kCount = sizeof...(numbers);
            usdt_spread<(kCount < kLeft ? kLeft - kCount : 0)>(
                [&](auto... later) __attribute__((always_inline)) { then(numbers..., later...); }, rest...);
        };
        if constexpr (std::is_array_v<T> || kIsSteady<T>) {
            usdt_spread_one<kLeft>(Capture<T>::of(first), go_on);
        } else {
            // Reading it may run code of the program, which a record does once.
            go_on(usdt_address(&reinterpret_cast<const volatile char&>(first)));
        }
    }
}

template <std::size_t kLeft, class T, class Then>
SP_DETAIL_INLINE void usdt_spread_one(const T& value, const Then& then) {
    if constexpr (Wide<T>) {
        then(static_cast<std::uint64_t>(value),
             static_cast<std::uint64_t>(static_cast<UInt128>(value) >> 64));
    } else if constexpr (Small<T>) {
        then(usdt_number(value));
    } else if constexpr (std::same_as<T, Secret>) {
        then();
    } else if constexpr (std::is_null_pointer_v<T>) {
        then(std::uint64_t{0});
    } else if constexpr (std::is_pointer_v<T>) {
        then(reinterpret_cast<std::uint64_t>(value));
    } else if constexpr (kIsTagged<T>) {
        usdt_spread_one<kLeft>(value.value, then);
    } else if constexpr (kIsTextRef<T>) {
        then(usdt_address(value.data), std::uint64_t{value.size * sizeof *value.data});
    } else if constexpr (std::same_as<T, BytesRef>) {
        then(usdt_address(value.data), std::uint64_t{value.size});
    } else if constexpr (kIsArrayRef<T>) {
        then(usdt_address(value.first), std::uint64_t{value.count});
    } else if constexpr (std::is_array_v<T>) {
        then(usdt_address(value), std::uint64_t{std::extent_v<T>});
    } else if constexpr (FineDuration<T>) {
        then(usdt_number(value.count()));
    } else if constexpr (DurationLike<T>) {
        then(nanoseconds_of(value));
    } else if constexpr (TimePointLike<T>) {
        then(Codec<T>::nanoseconds(value));
    } else if constexpr (Described<T>) {
        Struct<T>::visit(
            value, [&](const auto&... members)
                       __attribute__((always_inline)) { usdt_spread<kLeft>(then, members...); });
    } else if constexpr (TupleLike<T>) {
        with_elements(
            value, typename Codec<T>::Indices{}, [&](const auto&... elements) __attribute__((always_inline)) {
                usdt_spread<kLeft>(then, elements...);
            });
    } else if constexpr (OptionalNumber<T>) {
        using Held = std::remove_cvref_t<decltype(*value)>;
        then(static_cast<std::uint8_t>(value.has_value()), usdt_number(value.has_value() ? *value : Held{}));
    } else if constexpr (OptionalText<T>) {
        const bool is_there = value.has_value();
        then(static_cast<std::uint8_t>(is_there), usdt_address(is_there ? (*value).data() : nullptr),
             std::uint64_t{is_there ? (*value).size() * sizeof *(*value).data() : 0});
    } else {
        then(usdt_address(&reinterpret_cast<const volatile char&>(value)));
    }
}

// --- The probe.

// Four bits: negative numbers, and the size as a power of two.
template <class T>
constexpr std::uint64_t usdt_size() {
    return (sizeof(T) == 8   ? 6u
            : sizeof(T) == 4 ? 4u
            : sizeof(T) == 2 ? 2u
                             : 0u) |
           (std::is_signed_v<T> ? 1u : 0u);
}
template <class... Ts>
constexpr std::uint64_t usdt_sizes() {
    std::uint64_t sizes = 0;
    [[maybe_unused]] unsigned at = 0;
    ((sizes |= usdt_size<Ts>() << at, at += 4), ...);
    return sizes;
}

// clang-format off
#define SP_DETAIL_USDT_HIT(arguments, ...)                                                                   \
    __asm__ __inline__ __volatile__(                                                                         \
        SP_C_USDT_BEGIN                                                                                        \
        ".irp sp_word,%n[p0],%n[p1],%n[p2],%n[p3]\n" SP_DETAIL_USDT_CHARACTERS                               \
        ".byte 0\n"                                                                                          \
        ".irp sp_word,%n[n0],%n[n1],%n[n2],%n[n3],%n[n4],%n[n5],%n[n6]\n" SP_DETAIL_USDT_CHARACTERS          \
        ".byte 0\n"                                                                                          \
        arguments                                                                                            \
        SP_C_USDT_END                                                                                          \
        :                                                                                                    \
        : [p0] "i"(0 - names.provider.word(0)), [p1] "i"(0 - names.provider.word(1)),                        \
          [p2] "i"(0 - names.provider.word(2)), [p3] "i"(0 - names.provider.word(3)),                        \
          [n0] "i"(0 - name.word(0)), [n1] "i"(0 - name.word(1)), [n2] "i"(0 - name.word(2)),                \
          [n3] "i"(0 - name.word(3)), [n4] "i"(0 - name.word(4)), [n5] "i"(0 - name.word(5)),                \
          [n6] "i"(0 - name.word(6)), [sizes] "i"(0 - usdt_sizes<Ts...>()) __VA_OPT__(, ) __VA_ARGS__)
#define SP_DETAIL_USDT_CHARACTERS                                                                            \
        ".set .Lsp_usdt_left,\\sp_word\n"                                                                    \
        ".rept 8\n"                                                                                          \
        ".if .Lsp_usdt_left&255\n"                                                                           \
        ".byte .Lsp_usdt_left&255\n"                                                                         \
        ".endif\n"                                                                                           \
        ".set .Lsp_usdt_left,.Lsp_usdt_left>>8\n"                                                            \
        ".endr\n"                                                                                            \
        ".endr\n"
#define SP_DETAIL_USDT_FIRST(n) SP_C_USDT_VALUE(n, usdt_nth<n>(numbers...))
#define SP_DETAIL_USDT_LATER(n) SP_C_USDT_VALUE_ANYWHERE(n, usdt_nth<n>(numbers...))
#define SP_DETAIL_USDT_ARGUMENTS1 SP_C_USDT_ARGUMENT(0)
#define SP_DETAIL_USDT_ARGUMENTS2 SP_DETAIL_USDT_ARGUMENTS1 SP_C_USDT_ARGUMENT(1)
#define SP_DETAIL_USDT_ARGUMENTS3 SP_DETAIL_USDT_ARGUMENTS2 SP_C_USDT_ARGUMENT(2)
#define SP_DETAIL_USDT_ARGUMENTS4 SP_DETAIL_USDT_ARGUMENTS3 SP_C_USDT_ARGUMENT(3)
#define SP_DETAIL_USDT_ARGUMENTS5 SP_DETAIL_USDT_ARGUMENTS4 SP_C_USDT_ARGUMENT(4)
#define SP_DETAIL_USDT_ARGUMENTS6 SP_DETAIL_USDT_ARGUMENTS5 SP_C_USDT_ARGUMENT(5)
#define SP_DETAIL_USDT_ARGUMENTS7 SP_DETAIL_USDT_ARGUMENTS6 SP_C_USDT_ARGUMENT(6)
#define SP_DETAIL_USDT_ARGUMENTS8 SP_DETAIL_USDT_ARGUMENTS7 SP_C_USDT_ARGUMENT(7)
#define SP_DETAIL_USDT_ARGUMENTS9 SP_DETAIL_USDT_ARGUMENTS8 SP_C_USDT_ARGUMENT(8)
#define SP_DETAIL_USDT_ARGUMENTS10 SP_DETAIL_USDT_ARGUMENTS9 SP_C_USDT_ARGUMENT(9)
#define SP_DETAIL_USDT_ARGUMENTS11 SP_DETAIL_USDT_ARGUMENTS10 SP_C_USDT_ARGUMENT(10)
#define SP_DETAIL_USDT_ARGUMENTS12 SP_DETAIL_USDT_ARGUMENTS11 SP_C_USDT_ARGUMENT(11)
#define SP_DETAIL_USDT_VALUES1 SP_DETAIL_USDT_FIRST(0)
#define SP_DETAIL_USDT_VALUES2 SP_DETAIL_USDT_VALUES1, SP_DETAIL_USDT_FIRST(1)
#define SP_DETAIL_USDT_VALUES3 SP_DETAIL_USDT_VALUES2, SP_DETAIL_USDT_FIRST(2)
#define SP_DETAIL_USDT_VALUES4 SP_DETAIL_USDT_VALUES3, SP_DETAIL_USDT_FIRST(3)
#define SP_DETAIL_USDT_VALUES5 SP_DETAIL_USDT_VALUES4, SP_DETAIL_USDT_FIRST(4)
#define SP_DETAIL_USDT_VALUES6 SP_DETAIL_USDT_VALUES5, SP_DETAIL_USDT_FIRST(5)
#define SP_DETAIL_USDT_VALUES7 SP_DETAIL_USDT_VALUES6, SP_DETAIL_USDT_LATER(6)
#define SP_DETAIL_USDT_VALUES8 SP_DETAIL_USDT_VALUES7, SP_DETAIL_USDT_LATER(7)
#define SP_DETAIL_USDT_VALUES9 SP_DETAIL_USDT_VALUES8, SP_DETAIL_USDT_LATER(8)
#define SP_DETAIL_USDT_VALUES10 SP_DETAIL_USDT_VALUES9, SP_DETAIL_USDT_LATER(9)
#define SP_DETAIL_USDT_VALUES11 SP_DETAIL_USDT_VALUES10, SP_DETAIL_USDT_LATER(10)
#define SP_DETAIL_USDT_VALUES12 SP_DETAIL_USDT_VALUES11, SP_DETAIL_USDT_LATER(11)
// clang-format on

template <std::size_t kIndex, class T, class... Rest>
SP_DETAIL_INLINE auto usdt_nth(T first, Rest... rest) {
    if constexpr (kIndex == 0) {
        return first;
    } else {
        return usdt_nth<kIndex - 1>(rest...);
    }
}

// Where tracers stop the thread. `Names` gives the names.
template <class Names, UsdtPart kPart, class... Ts>
SP_DETAIL_INLINE void usdt_hit([[maybe_unused]] Ts... numbers) {
    constexpr UsdtNames names = Names{}();
    constexpr auto name = names.name.with(usdt_suffix(kPart));
    constexpr std::size_t kCount = sizeof...(Ts);
    if constexpr (kCount == 0) {
        SP_DETAIL_USDT_HIT("");
    } else if constexpr (kCount == 1) {
        SP_DETAIL_USDT_HIT(SP_DETAIL_USDT_ARGUMENTS1, SP_DETAIL_USDT_VALUES1);
    } else if constexpr (kCount == 2) {
        SP_DETAIL_USDT_HIT(SP_DETAIL_USDT_ARGUMENTS2, SP_DETAIL_USDT_VALUES2);
    } else if constexpr (kCount == 3) {
        SP_DETAIL_USDT_HIT(SP_DETAIL_USDT_ARGUMENTS3, SP_DETAIL_USDT_VALUES3);
    } else if constexpr (kCount == 4) {
        SP_DETAIL_USDT_HIT(SP_DETAIL_USDT_ARGUMENTS4, SP_DETAIL_USDT_VALUES4);
    } else if constexpr (kCount == 5) {
        SP_DETAIL_USDT_HIT(SP_DETAIL_USDT_ARGUMENTS5, SP_DETAIL_USDT_VALUES5);
    } else if constexpr (kCount == 6) {
        SP_DETAIL_USDT_HIT(SP_DETAIL_USDT_ARGUMENTS6, SP_DETAIL_USDT_VALUES6);
    } else if constexpr (kCount == 7) {
        SP_DETAIL_USDT_HIT(SP_DETAIL_USDT_ARGUMENTS7, SP_DETAIL_USDT_VALUES7);
    } else if constexpr (kCount == 8) {
        SP_DETAIL_USDT_HIT(SP_DETAIL_USDT_ARGUMENTS8, SP_DETAIL_USDT_VALUES8);
    } else if constexpr (kCount == 9) {
        SP_DETAIL_USDT_HIT(SP_DETAIL_USDT_ARGUMENTS9, SP_DETAIL_USDT_VALUES9);
    } else if constexpr (kCount == 10) {
        SP_DETAIL_USDT_HIT(SP_DETAIL_USDT_ARGUMENTS10, SP_DETAIL_USDT_VALUES10);
    } else if constexpr (kCount == 11) {
        SP_DETAIL_USDT_HIT(SP_DETAIL_USDT_ARGUMENTS11, SP_DETAIL_USDT_VALUES11);
    } else if constexpr (kCount == 12) {
        SP_DETAIL_USDT_HIT(SP_DETAIL_USDT_ARGUMENTS12, SP_DETAIL_USDT_VALUES12);
    } else {
        [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) __attribute__((always_inline)) {
            usdt_hit<Names, kPart>(usdt_nth<kIndex>(numbers...)...);
        }
        (std::make_index_sequence<kUsdtMost>{});
    }
}

template <class Names, UsdtPart kPart, class... Ts>
SP_DETAIL_INLINE void usdt_fire(const Ts&... values) {
    usdt_spread<kUsdtMost>(
        [](auto... numbers) __attribute__((always_inline)) { usdt_hit<Names, kPart>(numbers...); },
        values...);
}

// --- What the macros expand to. `found` is what SP_DETAIL_FOUND gave, with marks.

// A record whose arguments are named: probe, then record.
template <class Names, UsdtPart kPart, class... Ts>
SP_DETAIL_INLINE std::uint64_t usdt_record_named(void* found, Site& site, Kind kind, std::string_view name,
                                                 std::string_view source, const Ts&... args) {
    if (usdt_is_hit(found)) [[unlikely]] {
        usdt_fire<Names, kPart>(args...);
        if (!usdt_is_on(found)) return 0;
    }
    return record_named<Ts...>(site, kind, name, source, args...);
}
template <UsdtPart kPart, class Names, class Arguments>
SP_DETAIL_INLINE std::uint64_t usdt_record_given(Names, void* found, Kind kind, std::string_view name,
                                                 std::string_view source, const Arguments& given) {
    return with_given(
        given, [&]<class... Ts>(const Ts&... args) __attribute__((always_inline)) {
            return usdt_record_named<Names, kPart, Ts...>(found, stream_site(usdt_place(found)).site, kind,
                                                          name, source, args...);
        });
}

// Text in parentheses.
template <class Names>
struct SP_DETAIL_VISIBLE UsdtLine {
    void* found;

    SP_DETAIL_INLINE Done operator()(Template<> text) const {
        if (usdt_is_hit(found)) [[unlikely]]
            usdt_fire<Names, UsdtPart::kWhole>();
        return usdt_is_on(found) ? line()(text) : Done{};
    }
    template <class Before, class T>
    SP_DETAIL_INLINE Done operator()(typename Given<Before, T>::template Text<Template> text,
                                     const Given<Before, T>& given) const {
        if (usdt_is_hit(found)) [[unlikely]]
            with_given(
                given, [](const auto&... args)
                           __attribute__((always_inline)) { usdt_fire<Names, UsdtPart::kWhole>(args...); });
        return usdt_is_on(found) ? line()(text, given) : Done{};
    }

  private:
    SP_DETAIL_INLINE Line line() const { return {stream_site(usdt_place(found))}; }
};
template <class Names>
struct SP_DETAIL_VISIBLE UsdtPercent {
    void* found;

    SP_DETAIL_INLINE Done operator()(Percent<> text) const {
        if (usdt_is_hit(found)) [[unlikely]]
            usdt_fire<Names, UsdtPart::kWhole>();
        return usdt_is_on(found) ? start()(text) : Done{};
    }
    template <class Before, class T>
    SP_DETAIL_INLINE Done operator()(typename Given<Before, T>::template Text<Percent> text,
                                     const Given<Before, T>& given) const {
        if (usdt_is_hit(found)) [[unlikely]]
            with_given(
                given, [](const auto&... args)
                           __attribute__((always_inline)) { usdt_fire<Names, UsdtPart::kWhole>(args...); });
        return usdt_is_on(found) ? start()(text, given) : Done{};
    }

  private:
    SP_DETAIL_INLINE StartPercent start() const { return {stream_site(usdt_place(found))}; }
};
template <class Names>
SP_DETAIL_INLINE UsdtPercent<Names> usdt_percent(Names, void* found) {
    return {found};
}

// As Start and StartTo (front.hpp).
struct SP_DETAIL_VISIBLE UsdtStart {
    Line SP_DETAIL_TEXT;
    void* found;
    template <class Names>
    SP_DETAIL_INLINE UsdtLine<Names> at(int, Names) const {
        return {found};
    }
};
struct SP_DETAIL_VISIBLE UsdtStartTo {
    Line SP_DETAIL_TEXT_TO;
    void* found;
    template <class Names>
    SP_DETAIL_INLINE UsdtLine<Names> at(int, Names) const {
        return {found};
    }
};
SP_DETAIL_INLINE UsdtStart usdt_start(void* found) { return {{stream_site(usdt_place(found))}, found}; }
SP_DETAIL_INLINE UsdtStartTo usdt_start_to(void* found) { return {{stream_site(usdt_place(found))}, found}; }

// As Sink. A stream's probe has its values; what is literal in it is not known to the compiler's assembler.
template <class Names>
struct SP_DETAIL_VISIBLE UsdtSink {
    void* found;

    SP_DETAIL_INLINE void operator&(Done) const {}
    template <class Before, class Piece>
    SP_DETAIL_INLINE void operator&(const Stream<Before, Piece>& stream) const {
        if (usdt_is_hit(found)) [[unlikely]]
            with_pieces(
                stream, [](const auto&... pieces) __attribute__((always_inline)) { fire(pieces...); });
        if (usdt_is_on(found)) record_stream(stream);
    }

  private:
    template <class... Pieces>
    SP_DETAIL_INLINE static void fire(const Pieces&... pieces) {
        usdt_spread<kUsdtMost>(
            [](auto... numbers)
                __attribute__((always_inline)) { usdt_hit<Names, UsdtPart::kWhole>(numbers...); },
            value_of(pieces)...);
    }
    template <class T>
    SP_DETAIL_INLINE static decltype(auto) value_of(const T& piece) {
        if constexpr (kIsLiteral<T>) {
            return Secret{};
        } else {
            return (piece);
        }
    }
};
template <class Names>
SP_DETAIL_INLINE UsdtSink<Names> usdt_sink(Names, void* found) {
    return {found};
}

// Of a stream that is held: `found`, or the place of its probe with the same marks.
template <class Names>
void usdt_hit_held(const char* data, std::size_t size) {
    usdt_hit<Names, UsdtPart::kWhole>(usdt_address(data), std::uint64_t{size});
}
template <class Names>
SP_DETAIL_INLINE void* usdt_held(Names, void* found) {
    if (!usdt_is_hit(found)) [[likely]]
        return found;
    static constinit UsdtHeld held{&usdt_hit_held<Names>};
    held.site.store(usdt_place(found), std::memory_order_relaxed);
    return usdt_mark(usdt_is_on(found) ? found : nullptr, &held);
}

// An async span, whose two probes have one name.
template <class Names>
void usdt_hit_end(std::uint64_t id) {
    usdt_hit<Names, UsdtPart::kEnd>(id);
}
template <class Names, class Arguments>
SP_DETAIL_INLINE AsyncSpan usdt_async_span(Names, void* found, std::string_view name, std::string_view source,
                                           std::uint64_t id, const Arguments& given) {
    auto& sites = *static_cast<AsyncSite*>(usdt_place(found));
    const auto begin = [&]<class... Ts>(const Ts&... args) __attribute__((always_inline)) {
        return usdt_record_named<Names, UsdtPart::kBegin, Ts...>(found, sites.begin, Kind::kAsyncBegin, name,
                                                                 source, args...);
    };
    Site* const recorded = with_given(given, begin) != 0 ? end_of(sites, name) : nullptr;
    if (!usdt_is_hit(found)) [[likely]]
        return async_span(recorded, id);
    static constinit UsdtEnd unrecorded(&usdt_hit_end<Names>), both(&usdt_hit_end<Names>);
    if (recorded == nullptr) return {unrecorded.site, id};
    both.recorded.store(recorded, std::memory_order_relaxed);
    return {both.site, id};
}

// As Span, with a probe at its end.
template <class Names>
class SP_DETAIL_VISIBLE UsdtSpan {
  public:
    UsdtSpan() = default;
    template <class Arguments>
    SP_DETAIL_INLINE UsdtSpan(void* found, std::string_view name, std::string_view source,
                              const Arguments& given)
        : began_(usdt_is_hit(found) ? monotonic_now() : 0),
          span_(begin(
              found, usdt_record_given<UsdtPart::kEntry>(Names{}, found, Kind::kSpan, name, source, given))) {
    }
    // Named after its function.
    SP_DETAIL_INLINE UsdtSpan(void* found, const char* pretty)
        : began_(usdt_is_hit(found) ? monotonic_now() : 0), span_(begin_scope(found, pretty)) {}
    UsdtSpan(const UsdtSpan&) = delete;
    UsdtSpan& operator=(const UsdtSpan&) = delete;
    SP_DETAIL_INLINE ~UsdtSpan() {
        if (began_ != 0) [[unlikely]]
            usdt_hit<Names, UsdtPart::kExit>(std::uint64_t{monotonic_now() - began_});
    }

  private:
    SP_DETAIL_INLINE static Span begin(void* found, std::uint64_t ticks) {
        if (!usdt_is_on(found)) return {};
        return {stream_site(usdt_place(found)).site, ticks};
    }
    SP_DETAIL_INLINE static Span begin_scope(void* found, const char* pretty) {
        if (usdt_is_hit(found)) [[unlikely]]
            usdt_hit<Names, UsdtPart::kEntry>();
        if (!usdt_is_on(found)) return {};
        Site& site = stream_site(usdt_place(found)).site;
        return {site, record_scope(site, pretty)};
    }
    std::uint64_t began_ = 0;
    Span span_;
};

SP_DETAIL_END
