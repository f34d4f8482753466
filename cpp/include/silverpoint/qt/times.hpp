// QDate, QTime, QDateTime.
//
// | type | recorded as |
// |---|---|
// | QDate | text 2026-11-21, as std::chrono's dates; `invalid` |
// | QTime | text 03:04:05.678; `invalid` |
// | QDateTime | nothing, or a record of the moment (ns since 1970, ±292 years) and its zone |
//
// A zone is `UTC`, `UTC+02:00` or `Europe/Berlin`; of local time it is the abbreviation.
#pragma once

#include <QDate>
#include <QDateTime>
#include <QTime>
#include <QTimeZone>

#include "text.hpp"

SP_DETAIL_BEGIN

struct QtDateText {
    static ShortText<24> text(const QDate& date) {
        ShortText<24> out;
        if (!date.isValid()) {
            out.add("invalid");
            return out;
        }
        const int year = date.year();
        if (year < 0) out.add('-');
        out.number(static_cast<std::uint64_t>(year < 0 ? -static_cast<long long>(year) : year), 4);
        out.add('-');
        out.number(static_cast<std::uint64_t>(date.month()), 2);
        out.add('-');
        out.number(static_cast<std::uint64_t>(date.day()), 2);
        return out;
    }
};
struct QtTimeText {
    static ShortText<16> text(const QTime& time) {
        ShortText<16> out;
        if (!time.isValid()) {
            out.add("invalid");
            return out;
        }
        out.number(static_cast<std::uint64_t>(time.hour()), 2);
        out.add(':');
        out.number(static_cast<std::uint64_t>(time.minute()), 2);
        out.add(':');
        out.number(static_cast<std::uint64_t>(time.second()), 2);
        out.add('.');
        out.number(static_cast<std::uint64_t>(time.msec()), 3);
        return out;
    }
};
template <>
struct Codec<QDate> : ShortTextCodec<QDate, QtDateText> {};
template <>
struct Codec<QTime> : ShortTextCodec<QTime, QtTimeText> {};

// A QDateTime as it is recorded.
struct QtMoment {
    bool is_valid;
    std::int64_t unix_ns;
    QString zone;

    static QtMoment of(const QDateTime& time) {
        if (!time.isValid()) return {false, 0, {}};
        __extension__ using Wide128 = __int128;
        constexpr std::int64_t kLeast = -0x7FFFFFFFFFFFFFFF - 1, kMost = 0x7FFFFFFFFFFFFFFF;
        const Wide128 ns = static_cast<Wide128>(time.toMSecsSinceEpoch()) * 1'000'000;
        return {true,
                ns > kMost    ? kMost
                : ns < kLeast ? kLeast
                              : static_cast<std::int64_t>(ns),
                zone_of(time)};
    }
    static QString zone_of(const QDateTime& time) {
        switch (time.timeSpec()) {
            case Qt::UTC:
                return QStringLiteral("UTC");
            case Qt::OffsetFromUTC: {
                const int seconds = time.offsetFromUtc(), all = seconds < 0 ? -seconds : seconds;
                ShortText<16> text;
                text.add(seconds < 0 ? "UTC-" : "UTC+");
                text.number(static_cast<std::uint64_t>(all / 3600), 2);
                text.add(':');
                text.number(static_cast<std::uint64_t>(all / 60 % 60), 2);
                if (all % 60 != 0) {
                    text.add(':');
                    text.number(static_cast<std::uint64_t>(all % 60), 2);
                }
                return QString::fromLatin1(text.data, static_cast<qsizetype>(text.size));
            }
#if QT_CONFIG(timezone)
            case Qt::TimeZone:
                return QString::fromLatin1(time.timeZone().id());
#endif
            default:
                return time.timeZoneAbbreviation();
        }
    }
};

template <>
struct Codec<QtMoment> {
    using Text = Codec<TextRef<char16_t>>;
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add("?<QDateTime|time:t,zone:S,>"); }
    static std::size_t size(const QtMoment& time) {
        return time.is_valid ? 9 + Text::size(Utf16::of(time.zone)) : 1;
    }
    static char* put(char* out, const QtMoment& time) {
        out = put_bytes(out, time.is_valid);
        return time.is_valid ? Text::put(put_bytes(out, time.unix_ns), Utf16::of(time.zone)) : out;
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const QtMoment& time) {
        if (!time.is_valid) return out.null(), true;
        out.begin_map();
        bool whole = put_item(out, std::string_view("time"));
        out.head(6, 1);
        whole = put_item(out, static_cast<double>(time.unix_ns) / 1e9) && whole;
        whole = put_item(out, std::string_view("zone")) && put_item(out, time.zone) && whole;
        out.end();
        return whole;
    }
};

template <>
struct Codec<QDateTime> {
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { Codec<QtMoment>::sign(out); }
    // Zones are looked up once for a record.
    using Taken = QtMoment;
    static QtMoment take(const QDateTime& time) { return QtMoment::of(time); }
    template <class Writer>
    static bool put_cbor(Writer& out, const QDateTime& time) {
        return Codec<QtMoment>::put_cbor(out, QtMoment::of(time));
    }
};

SP_DETAIL_END
