// What silverpoint.hpp cannot know of <chrono> without including it: calendar dates, times of day, local and
// zoned times.
//
//   SP_INFO("{} {}", date, std::chrono::hh_mm_ss(elapsed));      2026-11-21 03:04:05.678
//
// | type | recorded as |
// |---|---|
// | durations | nanoseconds in 64 bits, saturating; ticks shorter than that with their unit |
// | sys_time, file_time, utc_time | date-time, ns since 1970 |
// | times of other clocks, steady_clock's too | duration since its epoch, with the clock's name |
// | local_time | text 2026-11-21T03:04:05.678000000, without a zone since it has none |
// | zoned_time | a record of the date-time and the zone's name |
// | year_month_day, year_month_day_last, year_month, month_day | text 2026-11-21, 2026-11, 11-21 |
// | year, day; month, weekday | a number; text Nov, Sat |
// | hh_mm_ss | text 03:04:05.678, with the digits of its precision |
//
// The first three rows need no more than silverpoint.hpp. Texts are made when the record is: some tens of
// nanoseconds each.
#pragma once

#include <chrono>

#include "detail/short_text.hpp"
#include "silverpoint.hpp"

SP_DETAIL_BEGIN

struct CalendarText {
    using Text = ShortText<16>;

    static void year(Text& out, std::chrono::year year) {
        const int number = static_cast<int>(year);
        if (number < 0) out.add('-');
        out.number(static_cast<unsigned>(number < 0 ? -number : number), 4);
    }
    static Text text(const std::chrono::year_month_day& date) {
        Text out;
        year(out, date.year());
        out.add('-');
        out.number(static_cast<unsigned>(date.month()), 2);
        out.add('-');
        out.number(static_cast<unsigned>(date.day()), 2);
        return out;
    }
    static Text text(const std::chrono::year_month_day_last& date) {
        return text(std::chrono::year_month_day(date.year(), date.month(), date.day()));
    }
    static Text text(const std::chrono::year_month& date) {
        Text out;
        year(out, date.year());
        out.add('-');
        out.number(static_cast<unsigned>(date.month()), 2);
        return out;
    }
    static Text text(const std::chrono::month_day& date) {
        Text out;
        out.number(static_cast<unsigned>(date.month()), 2);
        out.add('-');
        out.number(static_cast<unsigned>(date.day()), 2);
        return out;
    }
    // An invalid value is shown as its number.
    static Text text(const std::chrono::month& month) {
        return named("JanFebMarAprMayJunJulAugSepOctNovDec", static_cast<unsigned>(month) - 1,
                     static_cast<unsigned>(month));
    }
    static Text text(const std::chrono::weekday& day) {
        return named("SunMonTueWedThuFriSat", day.c_encoding(), day.c_encoding());
    }
    static Text named(std::string_view names, unsigned index, unsigned number) {
        Text out;
        if (index < names.size() / 3) {
            out.add(names.substr(std::size_t{index} * 3, 3));
        } else {
            out.number(number);
        }
        return out;
    }
};

template <class T>
concept CalendarLike =
    std::same_as<T, std::chrono::year_month_day> || std::same_as<T, std::chrono::year_month_day_last> ||
    std::same_as<T, std::chrono::year_month> || std::same_as<T, std::chrono::month_day> ||
    std::same_as<T, std::chrono::month> || std::same_as<T, std::chrono::weekday>;

template <CalendarLike T>
struct Codec<T> : ShortTextCodec<T, CalendarText> {};

template <>
struct Codec<std::chrono::year> {
    using Like = int;
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = 4;
    static constexpr void sign(Signer& out) { out.add('i'); }
    static constexpr std::size_t size(const std::chrono::year&) { return fixed; }
    static char* put(char* out, const std::chrono::year& value) {
        return put_bytes(out, static_cast<int>(value));
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const std::chrono::year& value) {
        return put_item(out, static_cast<int>(value));
    }
};

template <>
struct Codec<std::chrono::day> {
    using Like = unsigned;
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = 1;
    static constexpr void sign(Signer& out) { out.add('A'); }
    static constexpr std::size_t size(const std::chrono::day&) { return fixed; }
    static char* put(char* out, const std::chrono::day& value) {
        return put_bytes(out, static_cast<unsigned char>(static_cast<unsigned>(value)));
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const std::chrono::day& value) {
        return put_item(out, static_cast<unsigned>(value));
    }
};

struct TimeOfDayText {
    template <class Duration, std::size_t Length>
    static void add(ShortText<Length>& out, const std::chrono::hh_mm_ss<Duration>& time) {
        if (time.is_negative()) out.add('-');
        out.number(static_cast<std::uint64_t>(time.hours().count()), 2);
        out.add(':');
        out.number(static_cast<std::uint64_t>(time.minutes().count()), 2);
        out.add(':');
        out.number(static_cast<std::uint64_t>(time.seconds().count()), 2);
        if constexpr (std::chrono::hh_mm_ss<Duration>::fractional_width > 0) {
            out.add('.');
            out.number(static_cast<std::uint64_t>(time.subseconds().count()),
                       static_cast<int>(std::chrono::hh_mm_ss<Duration>::fractional_width));
        }
    }
    // Twenty digits of hours, and eighteen behind the point, at most.
    template <class Duration>
    static ShortText<48> text(const std::chrono::hh_mm_ss<Duration>& time) {
        ShortText<48> out;
        add(out, time);
        return out;
    }
};

template <class Duration>
struct Codec<std::chrono::hh_mm_ss<Duration>>
    : ShortTextCodec<std::chrono::hh_mm_ss<Duration>, TimeOfDayText> {};

struct LocalText {
    template <class Duration>
    static ShortText<40> text(const std::chrono::time_point<std::chrono::local_t, Duration>& time) {
        using namespace std::chrono;
        const nanoseconds since(nanoseconds_of(time.time_since_epoch()));
        const days whole = floor<days>(since);
        ShortText<40> out;
        const auto date = CalendarText::text(year_month_day(sys_days(whole)));
        out.add(std::string_view(date.data, date.size));
        out.add('T');
        // Not the difference to the day's beginning, which may lie beyond 64 bits.
        constexpr nanoseconds kDay = days(1);
        const nanoseconds rest = (since % kDay + kDay) % kDay;
        TimeOfDayText::add(out, hh_mm_ss<nanoseconds>(rest));
        return out;
    }
};

template <class Duration>
struct Codec<std::chrono::time_point<std::chrono::local_t, Duration>>
    : ShortTextCodec<std::chrono::time_point<std::chrono::local_t, Duration>, LocalText> {};

// std::chrono::zoned_time and similar types: not all standard libraries have it.
template <class T>
concept ZonedTimeLike = requires(const T& value) {
    requires TimePointLike<std::remove_cvref_t<decltype(value.get_sys_time())>>;
    { value.get_time_zone()->name() } -> std::convertible_to<std::string_view>;
};

template <class Time>
struct ZonedRef {
    Time time;
    TextRef<char> zone;
};
template <class Time>
struct Codec<ZonedRef<Time>> {
    using Text = Codec<TextRef<char>>;
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = kVaries;
    static std::size_t size(const ZonedRef<Time>& of) { return Codec<Time>::fixed + Text::size(of.zone); }
    static char* put(char* out, const ZonedRef<Time>& of) {
        return Text::put(Within<Time>::put_fixed(out, of.time), of.zone);
    }
    static constexpr void sign(Signer& out) {
        out.add("<zoned_time|time:");
        Codec<Time>::sign(out);
        out.add(",zone:s,>");
    }
};

template <ZonedTimeLike T>
struct Codec<T> {
    using Taken = ZonedRef<std::remove_cvref_t<decltype(std::declval<const T&>().get_sys_time())>>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { Codec<Taken>::sign(out); }
    static Taken take(const T& value) {
        return {value.get_sys_time(), Capture<std::string_view>::of(zone(value))};
    }
    static std::string_view zone(const T& value) {
        const auto zone = value.get_time_zone();
        return zone == nullptr ? std::string_view() : std::string_view(zone->name());
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& value) {
        out.begin_map();
        bool whole = put_item(out, std::string_view("time")) && put_item(out, value.get_sys_time());
        whole = whole && put_item(out, std::string_view("zone")) && put_item(out, zone(value));
        out.end();
        return whole;
    }
};

SP_DETAIL_END
