// What qDebug() << … records where texts, numbers and streams are unusual: what QDebug prints.
#include <QDateTime>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonValue>
#include <QPointer>
#include <QTimeZone>
#include <QUrl>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "support/qt_debug.hpp"

namespace {

using QtDebugEdgesTest = QtDebugTest;

// Texts that are none, or not where they begin.
TEST_F(QtDebugEdgesTest, BytesThatAreNoUtf8AndOtherStrangeTexts) {
    std::vector<const char*> sources;
    for (const char* text :
         {"\xEF\xBB\xBF mark", "\xE2\x82 cut", "\xF0\x9F\x98", "\xC0\x80", "\xED\xA0\x80 half",
          "\xF4\x90\x80\x80", "long enough and then \xFF", "\u00E4 \U0001F600 whole"}) {
        BOTH(<< text << 1)
        BOTH(.noquote() << QByteArray(text) << QByteArrayView(text))
        BOTH(<< QByteArray(text) << QUtf8StringView(text) << QLatin1String(text))
        BOTH(.nospace().noquote() << QString(text) << text)
    }
    for (int code = 0; code < 256; ++code) {
        const char pair[] = {static_cast<char>(code), 'a'};
        BOTH(<< QLatin1String(pair, 2) << QByteArrayView(pair, 2) << QString(QChar(code)))
        // (Readers escape what would not stay in a line.)
        if (code < 0x20 || (code >= 0x7F && code < 0xA0)) continue;
        BOTH(<< QChar(code))
        BOTH(.noquote() << 0 << QLatin1String(pair, 2) << QChar(code))
    }
    BOTH(<< "\xEF\xBB\xBF mark")
    BOTH(<< QString::fromUtf16(u"a\0b", 3) << QByteArray("a\0b", 3) << "a\0b" << QStringView() << QString(""))
    BOTH(<< QString::fromUtf16(u"\x7F\x80\u00AD\u200B\u3000\uE000\uFFFE\uFEFF"))
    BOTH(<< QList<QLatin1String>{QLatin1String("\x01")} << QLatin1String())
    compare(sources);
}

// In containers and by printf's forms too.
TEST_F(QtDebugEdgesTest, NumbersAreRoundedAsQtRoundsThem) {
    std::vector<const char*> sources;
    std::uint64_t state = 88172645463325252;
    for (int i = 0; i < 500; ++i) {
        for (const int shift : {13, -7, 17}) state ^= shift > 0 ? state << shift : state >> -shift;
        double any;
        std::memcpy(&any, &state, sizeof any);
        const double half = double(std::int64_t(state >> 40)) / double(1 << (state & 15));
        const double large = double(state % 2'000'000) / -2 * (state & 64 ? 1e3 : 1);
        BOTH(<< QList<double>{any, half, large, -0.0} << QMap<int, QPointF>{{1, {half, large}}}
             << float(half))
        sources.push_back("printf");
        QMessageLogger("file", 1, "function")
            .debug("%f %.0f %.1f %.2f %.3f %e %.1e %.3g %g %G", half, half, half, half, large, half, half,
                   half, any, -0.0);
        qDebug("%f %.0f %.1f %.2f %.3f %e %.1e %.3g %g %G", half, half, half, half, large, half, half, half,
               any, -0.0);
    }
    compare(sources);
}

TEST_F(QtDebugEdgesTest, WhatElseQDebugTakes) {
    std::vector<const char*> sources;
    const std::unique_ptr<int> owner(new int(5));
    const std::atomic<int> atomic(7);
    const std::vector<bool> bits{true, false};
    const int numbers[3] = {1, 2, 3};
    const QByteArray bytes("xyz");
    struct {
        unsigned three : 3;
    } const field{5};
    BOTH(<< owner.get() << atomic << bits << bits[0] << numbers << bytes[0] << field.three)
    BOTH(<< (sources.size() > 90 ? "a" : "bb") << __func__ << Q_FUNC_INFO)
    BOTH(<< wchar_t(65) << reinterpret_cast<const wchar_t*>(0x1234) << nullptr << qint8(-128) << quint8(255))
    BOTH(<< QMap<QString, QPair<int, QMap<int, QSet<bool>>>>{{"a", {1, {{2, {true}}}}}} << QStringList())
    BOTH(<< QPair<QMap<QString, int>, QList<QVariantMap>>{{{"a", 1}},
                                                          {{{"b", QVariantList{1, 2.5, QVariant()}}}}})
    BOTH(<< std::multimap<int, int>{{1, 2}, {1, 3}} << QMultiHash<int, QString>{{1, "a"}})
    BOTH(<< QVariant::fromValue(Tidy{5}) << QVariant::fromValue(static_cast<QObject*>(nullptr)))
    BOTH(<< QDateTime(QDate(2024, 2, 30), QTime(1, 1)) << QTime() << QUrl("http://[bad") << QUrl())
    BOTH(<< QDateTime(QDate(2024, 2, 3), QTime(1, 1), QTimeZone("Europe/Berlin")) << QTimeZone::utc())
    BOTH(<< QJsonDocument(QJsonArray{1, QJsonValue()}) << QJsonValue(QJsonValue::Undefined))
    BOTH(<< QSharedPointer<Tidy>(new Tidy{1}).isNull() << QPointer<QObject>() << QWeakPointer<int>().isNull())
    BOTH(<< Qt::right << qSetFieldWidth(5) << 1 << Qt::reset << 2)
    BOTH(<< Qt::showbase << Qt::uppercasebase << Qt::hex << 10 << Qt::noshowbase << -1 << 'c' << true)
    BOTH(.maybeQuote() << "x" << QString("y"))
    BOTH(.noquote().maybeQuote('\'') << "x" << QString("y"))
    BOTH(.space().space().nospace().space())
    BOTH(.noquote() << QString("x  ") << QString())
    BOTH(.noquote() << QString(" "))
    BOTH(<< QString(100'000, 'x'))
    BOTH(.noquote() << QString(100'000, 'y') << QByteArray(10'000, 'b'))
    BOTH(<< std::vector<double>(5000, 1.5) << QMap<int, QString>{{1, QString(50'000, 'm')}})
    compare(sources);
}

// --- Held streams

void by_constant(const QDebug& out) { QDebug(out) << "by constant" << 7; }

TEST_F(QtDebugEdgesTest, HeldStreamsAreUsedAsAnyQDebug) {
    std::vector<const char*> sources;
    const QMessageLogger theirs("file", 1, "function");
#define BOTH_HELD(...)               \
    sources.push_back(#__VA_ARGS__); \
    {                                \
        auto out = theirs.debug();   \
        __VA_ARGS__                  \
    }                                \
    {                                \
        auto out = qDebug();         \
        __VA_ARGS__                  \
    }
#define BOTH_WITH(call)                                            \
    sources.push_back(#call);                                      \
    {                                                              \
        const auto begin = [&] { return QDebug(theirs.debug()); }; \
        call;                                                      \
    }                                                              \
    {                                                              \
        const auto begin = [&] { return QDebug(qDebug()); };       \
        call;                                                      \
    }
    BOTH_HELD(out.setAutoInsertSpaces(false); out << 1 << 2; if (!out.autoInsertSpaces()) out << "no";)
    BOTH_HELD(out.setVerbosity(7); out << out.verbosity() << Qt::Vertical;)
    BOTH_HELD(out.maybeQuote() << "x"; out.maybeQuote('\'');)
    BOTH_HELD({
        const QDebugStateSaver saver(out);
        out.nospace() << Qt::hex << 10 << 11;
    } out << 12
          << 13;)
    BOTH_HELD(by_reference(out); out << 1;)
    BOTH_HELD(by_constant(out); out << 1;)
    BOTH_HELD(QDebug copy = out; copy << 1; out << 2; copy << 3;)
    BOTH_HELD(QDebug copy(out); copy.nospace() << 1 << 2;)
    BOTH_HELD(QDebug& other = out; other << 1;)
    BOTH_HELD(QString text; QDebug other(&text); other << 5; out << text; out.swap(other); out << 6;)
    BOTH_HELD(out << 1; out.noquote() << QString("a"); out.resetFormat() << QString("b"); out.space() << 1;)
    BOTH_WITH(QDebug out = begin(); QDebug moved = std::move(out); moved << 5)
    BOTH_WITH(std::optional<QDebug> out(begin()); *out << 5)
    const auto same = [&](const char* source, const auto& their, const auto& our) {
        sources.push_back(source);
        their();
        our();
    };
    same(
        "reference", [&] { by_reference(theirs.debug() << "x"); }, [] { by_reference(qDebug() << "x"); });
    same(
        "constant", [&] { by_constant(theirs.debug() << 1); }, [] { by_constant(qDebug() << 1); });
    same(
        "direct", [&] { QDebug(theirs.debug()) << 5; }, [] { QDebug(qDebug()) << 5; });
    same(
        "braces", [&] { QDebug{theirs.debug() << 1} << 5; }, [] { QDebug{qDebug() << 1} << 5; });
    compare(sources);
}

}  // namespace
