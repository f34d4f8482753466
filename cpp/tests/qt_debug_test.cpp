// What qDebug() << … records, and the text that readers show of it: expression by expression what QDebug
// itself prints.
#include "support/qt_debug.hpp"

#include <QBitArray>
#include <QCoreApplication>
#include <QPair>
#include <QThread>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <vector>

Q_LOGGING_CATEGORY(net, "net.tcp")
Q_LOGGING_CATEGORY(quiet, "quiet", QtCriticalMsg)

// Own types that do not leave the stream as it was, and one that is described.
struct Untidy {
    int x;
};
QDebug operator<<(QDebug out, const Untidy& untidy) { return out.nospace() << "Untidy" << untidy.x; }
struct Hexed {};
QDebug operator<<(QDebug out, const Hexed&) { return out << Qt::hex << 255; }
struct Described {
    int x;
    QString name;
};
QDebug operator<<(QDebug out, const Described& value) { return out << value.x << value.name; }
SP_STRUCT(Described, x, name)

// In qt_debug_part.cpp.
void captured_part(int number);

namespace {

TEST_F(QtDebugTest, NumbersTextsAndCharacters) {
    std::vector<const char*> sources;
    const QString text = QStringLiteral("t\u00E4xt \"q\" \\ \t\u0001 \U0001F600");
    const char* pointer = "pointer";
    char array[] = "array";
    int number = 0;
    IN_ALL_WAYS(true)
    IN_ALL_WAYS(-5)
    IN_ALL_WAYS(255u)
    IN_ALL_WAYS(short(-3))
    IN_ALL_WAYS(quint64(~0ull))
    IN_ALL_WAYS(qint64(-9'000'000'000))
    IN_ALL_WAYS(static_cast<unsigned char>(7))
    IN_ALL_WAYS(static_cast<signed char>(-7))
    IN_ALL_WAYS('c')
    IN_ALL_WAYS(0.5f)
    IN_ALL_WAYS(1e6)
    IN_ALL_WAYS(1.0 / 3)
    IN_ALL_WAYS(-1e-7)
    IN_ALL_WAYS(1e300)
    IN_ALL_WAYS(0.0)
    IN_ALL_WAYS(__builtin_inf())
    IN_ALL_WAYS(__builtin_nan(""))
    IN_ALL_WAYS("literal {} with braces")
    IN_ALL_WAYS("")
    IN_ALL_WAYS("ends with a space ")
    IN_ALL_WAYS(pointer)
    IN_ALL_WAYS(static_cast<const char*>(nullptr))
    IN_ALL_WAYS(array)
    IN_ALL_WAYS(text.left(11))
    IN_ALL_WAYS(QString())
    IN_ALL_WAYS(QString("ends "))
    IN_ALL_WAYS(QStringView(text).mid(1, 3))
    IN_ALL_WAYS(QLatin1String("latin \xE4"))
    IN_ALL_WAYS(QByteArray("bytes \xFFg\"", 9))
    IN_ALL_WAYS(QByteArray())
    IN_ALL_WAYS(QChar('x'))
    IN_ALL_WAYS(QChar(0xE4))
    IN_ALL_WAYS(u'y')
    IN_ALL_WAYS(U'z')
    IN_ALL_WAYS(u"sixteen")
    IN_ALL_WAYS(QUtf8StringView("eight"))
    IN_ALL_WAYS(nullptr)
    IN_ALL_WAYS(static_cast<void*>(&number))
    IN_ALL_WAYS(static_cast<const void*>(nullptr))
    IN_ALL_WAYS(&number)
    EXPECT_EQ(sources.size(), 160u);
    compare(sources);
}

// Of which readers by themselves would show something else.
TEST_F(QtDebugTest, ValuesThatLookOtherwise) {
    std::vector<const char*> sources;
    for (const double sign : {1.0, -1.0}) {
        BOTH(<< sign * 0.0 << 1)
        BOTH(<< Tidy{1} << sign * 0.0)
        BOTH(<< float(sign * 0.0))
        BOTH(<< __builtin_copysign(__builtin_nan(""), sign))
        BOTH(<< QPointF(sign * 0.0, 1) << QSizeF(1, sign * 0.0) << QLineF(0, 0, 0, sign * 0.0))
        BOTH(<< QRectF(0, sign * 0.0, 1, 1) << QMarginsF(0, 0, 0, sign * 0.0))
        // In the middle between two numbers of six digits.
        for (const double number :
             {100000.5,        100001.5,   999999.5,  1000005.0,  9999985.0, 10000.25,        1000.125,
              10.03125,        1.015625,   0.1328125, 1234565e12, 9999995e9, 123456500.0,     2097152.5,
              0.0001220703125, 16777215.5, 1.5,       100.0,      1e-4,      3.0517578125e-05})
            BOTH(<< number * sign << float(number * sign) << QPointF(1, number))
    }
    for (const char16_t unit : {0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0xE4})
        BOTH(<< QChar(unit) << unit << QList<QChar>{unit} << QString(QChar(unit)))
    BOTH(<< char(0xE4) << 1)
    BOTH(<< QList<char>{'a', char(0xE4)})
    BOTH(<< QList<const char*>{"a", nullptr})
    BOTH(<< std::pair<int, const char*>{1, nullptr})
    BOTH(<< QMap<int, const char*>{{1, nullptr}})
    // A literal that is no UTF-8.
    BOTH(<< "\xE4 latin" << 1)
    compare(sources);
}

TEST_F(QtDebugTest, Containers) {
    std::vector<const char*> sources;
    using Pair = QPair<int, QString>;
    using Map = QMap<QString, QList<double>>;
    IN_ALL_WAYS(QList<int>{1, 2, 3})
    IN_ALL_WAYS(QList<int>())
    IN_ALL_WAYS(QStringList{"a", "b \"c\""})
    IN_ALL_WAYS(QByteArrayList{"a"})
    IN_ALL_WAYS(QList<QChar>{'x', 'y'})
    IN_ALL_WAYS(QList<bool>{true})
    IN_ALL_WAYS(QList<QList<QString>>{{"a"}, {}, {"b", "c"}})
    IN_ALL_WAYS(QSet<int>{7})
    IN_ALL_WAYS(Map{{"a", {0.5, 1e9}}, {"b", {}}})
    IN_ALL_WAYS(QMultiMap<int, int>{{1, 2}, {1, 3}})
    IN_ALL_WAYS(QHash<int, QString>{{1, "x"}})
    IN_ALL_WAYS(QMultiHash<int, int>{{1, 2}})
    IN_ALL_WAYS(QMap<int, Pair>{{1, {2, "x"}}})
    IN_ALL_WAYS(Pair(1, "x"))
    IN_ALL_WAYS(std::vector<QString>{"a", "b"})
    IN_ALL_WAYS(std::list<int>{1, 2})
    IN_ALL_WAYS(std::map<int, QString>{{1, "x"}, {2, "y"}})
    IN_ALL_WAYS(QVarLengthArray<int, 4>{3, 4})
    IN_ALL_WAYS(QList<Tidy>{{1}, {2}})
    IN_ALL_WAYS(QList<Pair>{{1, "a"}})
    IN_ALL_WAYS(std::vector<std::vector<float>>{{0.1f}, {}})
    compare(sources);
}

TEST_F(QtDebugTest, QtTypes) {
    std::vector<const char*> sources;
    QObject object;
    object.setObjectName("name");
    QBitArray bits(3);
    bits.setBit(1);
    const QPointer<QObject> guarded(&object);
    IN_ALL_WAYS(QPoint(1, -2))
    IN_ALL_WAYS(QPointF(0.5, 1e7))
    IN_ALL_WAYS(QSize(640, 480))
    IN_ALL_WAYS(QSizeF(1.5, 2))
    IN_ALL_WAYS(QRect(1, 2, 30, 40))
    IN_ALL_WAYS(QRectF(0.25, 2, 30, 40))
    IN_ALL_WAYS(QLine(1, 2, 3, 4))
    IN_ALL_WAYS(QLineF(1, 2.5, 3, 4))
    IN_ALL_WAYS(QMargins(1, 2, 3, 4))
    IN_ALL_WAYS(QList<QPointF>{{1, 2}, {0.5, 0}})
    IN_ALL_WAYS(QMap<QString, QRect>{{"a", {1, 2, 3, 4}}})
    IN_ALL_WAYS(QDate(2026, 11, 21))
    IN_ALL_WAYS(QDate())
    IN_ALL_WAYS(QTime(1, 2, 3, 4))
    IN_ALL_WAYS(QDateTime::fromMSecsSinceEpoch(1234567, Qt::UTC))
    IN_ALL_WAYS(QDateTime::fromMSecsSinceEpoch(0, Qt::OffsetFromUTC, 3600))
    IN_ALL_WAYS(QDateTime())
    IN_ALL_WAYS(QUrl("http://me:pw@x.org/a?b"))
    IN_ALL_WAYS(QUuid("{01234567-89ab-cdef-0123-456789abcdef}"))
    IN_ALL_WAYS(QVariant(5))
    IN_ALL_WAYS(QVariant("text"))
    IN_ALL_WAYS(QVariant(QVariantList{1, "a"}))
    IN_ALL_WAYS(QVariantMap{{"a", 1}, {"b", QVariantList{true}}})
    IN_ALL_WAYS(QVariant())
    IN_ALL_WAYS(QJsonObject{{"a", 1}})
    IN_ALL_WAYS(QJsonArray{1, "x"})
    IN_ALL_WAYS(QJsonValue(1.5))
    IN_ALL_WAYS(Qt::Vertical)
    IN_ALL_WAYS((Qt::AlignLeft | Qt::AlignTop))
    IN_ALL_WAYS(Qt::Alignment())
    IN_ALL_WAYS(static_cast<QObject*>(&object))
    IN_ALL_WAYS(static_cast<QObject*>(nullptr))
    IN_ALL_WAYS(guarded)
    IN_ALL_WAYS(QSharedPointer<int>())
    IN_ALL_WAYS(bits)
    IN_ALL_WAYS(Described{1, "d"})
    IN_ALL_WAYS(QSharedPointer<QString>())
    compare(sources);
}

TEST_F(QtDebugTest, StatesAndManipulators) {
    std::vector<const char*> sources;
    const QString text("q");
    BOTH()
    BOTH(.nospace())
    BOTH(<< 1)
    BOTH(.nospace() << 1 << 2)
    BOTH(.nospace() << "a " << 1)
    BOTH(<< "a "
         << "b ")
    BOTH(.nospace() << "a ")
    BOTH(.space() << 1)
    BOTH(.nospace() << 1 << "" << 2)
    BOTH(.noquote() << text << 'c' << QChar('c'))
    BOTH(.quote() << text)
    BOTH(.noquote().quote() << text)
    BOTH(.maybeSpace() << text)
    BOTH(.nospace().maybeSpace() << text)
    BOTH(.nospace().space() << text << text)
    BOTH(.verbosity(0) << text << 5)
    BOTH(.verbosity(7) << QVariant(5))
    BOTH(.nospace().noquote().resetFormat() << text << 5)
    BOTH(<< Qt::hex << 255 << Qt::dec << 255)
    BOTH(<< Qt::oct << 8 << Qt::bin << 5)
    BOTH(<< Qt::showbase << Qt::hex << 255)
    BOTH(<< Qt::uppercasedigits << Qt::hex << 255)
    BOTH(<< Qt::fixed << 0.5 << Qt::scientific << 0.5)
    BOTH(<< qSetRealNumberPrecision(2) << 0.123456)
    BOTH(<< qSetFieldWidth(6) << 1 << "x" << text)
    BOTH(<< qSetFieldWidth(6) << qSetPadChar('*') << 1 << Qt::left << 2 << Qt::center << 3)
    BOTH(<< Qt::forcesign << 5 << Qt::noforcesign << 5)
    BOTH(<< Qt::forcepoint << 5.0)
    BOTH(<< 1 << Qt::hex)
    BOTH(<< Qt::hex << QList<int>{10, 11})
    BOTH(<< Qt::hex << QString("a") << QPoint(10, 11))
    BOTH(<< Qt::flush << 1)
    BOTH(<< Hexed{} << 255)
    BOTH(<< 255 << Hexed{})
    BOTH(<< Hexed{} << "x" << QList<int>{255} << text)
    BOTH(<< Untidy{1})
    BOTH(<< Untidy{1} << Untidy{2} << "x")
    BOTH(.nospace() << Untidy{1} << Tidy{2} << Described{3, "x"})
    BOTH(<< Tidy{1} << Tidy{2})
    BOTH(<< Described{3, "x"} << "after")
    BOTH(<< Described{3, "x"})
    BOTH(<< "same" << 1 << "literals" << 2 << "same")
    compare(sources);
}

// --- Held, and passed on.

QDebug describe(QDebug out, int what) { return out << "described" << what; }
QDebug given_back(const QMessageLogger& logger) { return logger.debug() << "given back"; }
QDebug given_back() { return qDebug() << "given back"; }

TEST_F(QtDebugTest, HeldStreamsAreOneRecord) {
    std::vector<const char*> sources;
    const QMessageLogger theirs("file", 1, "function");
    const auto use = [](QDebug out) {
        out << "one" << 2;
        by_reference(out);
        out.nospace() << QString("three") << Tidy{4};
    };
    sources.push_back("QDebug d = qDebug(); …");
    {
        QDebug out = theirs.debug();
        use(out);
    }
    {
        QDebug out = qDebug();
        use(out);
    }
    sources.push_back("f(qDebug() << …)");
    describe(theirs.debug() << "before" << 1, 5) << "after";
    describe(qDebug() << "before" << 1, 5) << "after";
    sources.push_back("f(qDebug().nospace())");
    describe(theirs.debug().nospace().noquote() << QString("q"), 5);
    describe(qDebug().nospace().noquote() << QString("q"), 5);
    sources.push_back("auto d = qDebug();");
    {
        auto out = theirs.debug();
        out << "auto" << 1;
        out.nospace() << 2 << 3;
    }
    {
        auto out = qDebug();
        out << "auto" << 1;
        out.nospace() << 2 << 3;
    }
    sources.push_back("return qDebug() << …;");
    given_back(theirs) << 1;
    given_back() << 1;
    // What went through Qt came to the handler of before, once each.
    const auto got = lines();
    ASSERT_EQ(got.size(), sources.size());
    ASSERT_EQ(printed.size(), sources.size()) << "of theirs";
    for (std::size_t i = 0; i < sources.size(); ++i)
        EXPECT_EQ(got[i], printed[i].toStdString()) << sources[i];
}

TEST_F(QtDebugTest, FormsOfPrintf) {
    std::vector<const char*> sources;
    char array[] = "array";
    BOTH_PRINTF("plain")
    BOTH_PRINTF("%d %u %x %o %c|", -5, 5u, 255, 8, 'c')
    BOTH_PRINTF("%5d|%-5d|%05d|%+d", 1, 2, 3, 4)
    BOTH_PRINTF("%ld %llu %zu", -5l, 5ull, sizeof(int))
    BOTH_PRINTF("%f %.2f %g %e", 0.5, 1.0 / 3, 1e10, 12345.678)
    BOTH_PRINTF("%s|%10s|%-10s|", "text", "right", "left")
    BOTH_PRINTF("%s", array)
    BOTH_PRINTF("%.2s", "cut")
    BOTH_PRINTF("%*d", 5, 1)
    BOTH_PRINTF("%p", static_cast<void*>(nullptr))
    BOTH_PRINTF("100%% %d {}", 1)
    BOTH_PRINTF("%s", qPrintable(QString("umlaut \u00E4")))
    BOTH_PRINTF("%ls", qUtf16Printable(QString("wide")))
    // What Qt does otherwise than C.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat"
    const char* nothing = nullptr;
    const unsigned char small = 200;
    BOTH_PRINTF("%hd %hhd %hu %hx", 70000, 300, -1, 0x12345)
    BOTH_PRINTF("%hhd %hx", small, short(-3))
    BOTH_PRINTF("%6s|%-6s|", "\u00E4", "\U0001F600")
    BOTH_PRINTF("%+u|% u|%+x|%+d", 5u, 5u, 5u, 5)
    BOTH_PRINTF("%#x %#X %#o %#x", 255, 255, 8, 0)
    BOTH_PRINTF("%.3d|%.0d|%8.3d|%.3x", 5, 0, 5, 255)
    BOTH_PRINTF("%s|%d", nothing, 1)
    BOTH_PRINTF("%f %g", -0.0, 1234565.0)
    BOTH_PRINTF("%c", char(0xE4))
    BOTH_PRINTF("\xE4 %d", 1)
    const double inf = __builtin_inf(), nan = __builtin_nan("");
    BOTH_PRINTF("100%% %5%|%y %d", 5)
    BOTH_PRINTF("%i % d %-6d| %06d %+06d", 1, 2, 3, -4, 5)
    BOTH_PRINTF("%lld %lli %llx %jd %td %zd", 1ll, -2ll, -3ll, intmax_t{4}, ptrdiff_t{5}, ssize_t{-6})
    BOTH_PRINTF("%f %F %e %E %g %G %a", inf, -inf, nan, inf, nan, -inf, 1.5)
    BOTH_PRINTF("%010.3f|%-10.2f|%+.1e|% f|%#.0f|%#g|%010d|%-010d|", 1.5, 2.5, 3.5, 4.5, 5.0, 6.0, -7, -8)
    BOTH_PRINTF("%010f|%10f|%-10f|%+g", inf, nan, -inf, nan)
    BOTH_PRINTF("%.20f %.17g %.40f %.30e", 0.1, 0.1, 1.0 / 3, 0.1)
    BOTH_PRINTF("%g %g %g %g %g %f", 1e5, 1e6, 1e-4, 1e-5, 5e-324, 1e300)
    BOTH_PRINTF("%c%c|%5c|%-5c|", 'a', 65, 'b', 'c')
    BOTH_PRINTF("%d %d %d %u", true, 'c', short(-3), static_cast<unsigned char>(200))
    BOTH_PRINTF("%s %s", "\xE4 bad \xE2\x82", "\xEF\xBB\xBF mark")
    BOTH_PRINTF("\xEF\xBB\xBF mark %d", 1)
    BOTH_PRINTF("%-+8.2f|% 08.2f|%+08.2f|%#8.0f|%08.2f", 1.005, 2.5, -3.25, 4.0, -0.0)
#pragma GCC diagnostic pop
    const char* chosen = sources.size() > 5 ? "chosen %d" : "%d";
    BOTH_PRINTF(chosen, 7)
    compare(sources);
}

// --- Types, levels, categories

TEST_F(QtDebugTest, ValuesKeepTheirTypes) {
    const QString text("x");
    qDebug() << "moved" << text << QPoint(1, 2) << QList<double>{0.5} << QDate(2026, 11, 21) << Tidy{1} << 'c'
             << "end";
    qDebug() << Qt::hex << 255 << text;
    qWarning("code %d", 5);
    ASSERT_TRUE(silverpoint::flush());
    // The session still has the sites.
    std::vector<std::string> found;
    for (std::uint32_t id = 16; id < 4096; ++id) {
        try {
            const reader::Site site = traced::session().site(id);
            if (site.stage == 3 && site.file.find("qt_debug_test") != std::string::npos)
                found.push_back(site.signature + " " + site.text);
        } catch (const std::exception&) {
            break;
        }
    }
    const auto has = [&](const std::string& what) {
        return std::find(found.begin(), found.end(), what) != found.end();
    };
    EXPECT_TRUE(
        has("@notation=qdebug;S@look=QPoint({}%2C{});<QPoint|x:i,y:i,>@look=QList({*%2C });[@notation="
            "qdebug;d@look={};(@look={};Ss)@look={};S@look={};c moved {} {} {} {}{}{} end"))
        << ::testing::PrintToString(found);
    EXPECT_TRUE(has("@look={};S@look={};(@look={};Si)@look={};(@look={};SS) {}{}{}"));
    EXPECT_TRUE(has("i code %d"));
}

TEST_F(QtDebugTest, LevelsAndCategories) {
    int evaluated = 0;
    qInfo() << 1;
    qWarning() << 2;
    qCritical() << 3;
    qCDebug(net) << 4;
    qCInfo(net, "five %d", 5);
    qCWarning(net).nospace() << 6;
    qCCritical(net) << 7;
    qDebug(net) << 8;
    qDebug(net, "nine");
    qCDebug(quiet) << ++evaluated;
    if (evaluated == 0)
        qCCritical(quiet) << 10;
    else
        qCCritical(quiet) << "not here";
    EXPECT_EQ(evaluated, 0);
    EXPECT_EQ(lines(), (std::vector<std::string>{"1", "2", "3", "4", "five 5", "6", "7", "8", "nine", "10"}));
    EXPECT_EQ(lines("sites"),
              (std::vector<std::string>{"INFO default", "WARN default", "ERROR default", "DEBUG net.tcp",
                                        "INFO net.tcp", "WARN net.tcp", "ERROR net.tcp", "DEBUG net.tcp",
                                        "DEBUG net.tcp", "ERROR quiet"}));
    EXPECT_TRUE(printed.empty());
}

TEST_F(QtDebugTest, RulesHold) {
    const auto say = [] {
        qDebug() << "default";
        qCDebug(net) << "net";
        qCWarning(net, "printf");
        QDebug held = qDebug();
        held << "held";
    };
    QLoggingCategory::setFilterRules("net.*=false\ndefault.debug=false");
    say();
    EXPECT_EQ(lines(), std::vector<std::string>{});
    QLoggingCategory::setFilterRules("net.*=true");
    say();
    EXPECT_EQ(lines(), (std::vector<std::string>{"default", "net", "printf", "held"}));
}

TEST_F(QtDebugTest, EchoGoesToQtOnce) {
    silverpoint::qt::install_message_handler(true);
    silverpoint::qt::echo(true);
    qWarning() << "text" << QString("q");
    const int line = __LINE__ - 1;
    qCInfo(net, "printf %d", 5);
    EXPECT_EQ(lines(), (std::vector<std::string>{"text \"q\"", "printf 5"}));
    ASSERT_EQ(printed.size(), 2u);
    EXPECT_EQ(printed[0], "text \"q\"");
    EXPECT_EQ(printed[1], "printf 5");
    EXPECT_TRUE(contexts[0].startsWith(QString("%1 default %2 ").arg(int(QtWarningMsg)).arg(line)))
        << contexts[0].toStdString();
    EXPECT_TRUE(contexts[1].startsWith(QString("%1 net.tcp ").arg(int(QtInfoMsg))));
}

TEST_F(QtDebugTest, FromSeveralThreads) {
    constexpr int kThreads = 4, kEach = 200;
    std::vector<std::unique_ptr<QThread>> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back(QThread::create([i] {
            for (int n = 0; n < kEach; ++n) {
                qDebug() << "thread" << i << QString::number(n);
                QDebug held = qInfo();
                held << "held" << i << n;
            }
        }));
        threads.back()->start();
    }
    for (const auto& thread : threads) ASSERT_TRUE(thread->wait());
    auto got = lines();
    std::set<std::string> different(got.begin(), got.end());
    EXPECT_EQ(got.size(), std::size_t{2 * kThreads * kEach});
    EXPECT_EQ(different.size(), got.size());
    EXPECT_TRUE(different.count("thread 3 \"199\""));
    EXPECT_TRUE(different.count("held 3 199"));
}

// --- Messages of code that was not recompiled.

TEST_F(QtDebugTest, MessagesOfOthersAreRecordedWithTheirContext) {
    silverpoint::qt::install_message_handler();
    QMessageLogger("lib.cpp", 42, "void lib()", "lib").warning() << "from a library" << 5;
    QMessageLogger(nullptr, 0, nullptr).info("nobody %d", 1);
    EXPECT_TRUE(printed.empty()) << "not chained";
    silverpoint::qt::install_message_handler(true);
    QMessageLogger("lib.cpp", 42, "void lib()", "lib").warning() << "again" << 5;
    qDebug() << "of ours";
    silverpoint::qt::remove_message_handler();
    QMessageLogger("lib.cpp", 42, "void lib()", "lib").warning() << "not any more";
    EXPECT_EQ(lines(), (std::vector<std::string>{"from a library 5", "nobody 1", "again 5", "of ours"}));
    EXPECT_EQ(lines("sites"),
              (std::vector<std::string>{"WARN lib", "INFO default", "WARN lib", "DEBUG default"}));
    ASSERT_EQ(printed.size(), 2u);
    EXPECT_EQ(printed[0], "again 5");
    EXPECT_EQ(printed[1], "not any more");
    bool is_there = false;
    for (std::uint32_t id = 16; id < 4096 && !is_there; ++id) {
        try {
            const reader::Site site = traced::session().site(id);
            is_there = site.file == "lib.cpp" && site.line == 42 && site.function == "void lib()" &&
                       site.category == "lib" && site.signature == "@look={};S";
        } catch (const std::exception&) {
            break;
        }
    }
    EXPECT_TRUE(is_there);
}

// --- A file that knows nothing of us (silverpoint_capture_qt).

TEST_F(QtDebugTest, FilesAreCapturedWithoutAChange) {
    captured_part(7);
    EXPECT_EQ(lines(), (std::vector<std::string>{"part 7 \"text\"", "printf 7", "held 7"}));
    EXPECT_TRUE(printed.empty());
}

// --- What the environment says.

TEST(QtDebugDeathTest, LoggingRules) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(
        {
            qputenv("QT_LOGGING_RULES", "net.tcp.debug=false");
            qputenv("QT_MESSAGE_PATTERN", "[%{category}] %{message}");
            int count = 0;
            const QCoreApplication app(count, nullptr);
            silverpoint::qt::echo(true);
            qCDebug(net) << "off";
            qCWarning(net) << "on" << 1;
            std::exit(net().isDebugEnabled() ? 1 : 0);
        },
        testing::ExitedWithCode(0), "^.net.tcp. on 1\n$");
}

// --- What ends the program.

TEST(QtDebugDeathTest, FatalMessages) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(qFatal("the end %d", 5), "the end 5");
}

// As Qt has them since 6.5.
TEST(QtDebugDeathTest, FatalStreams) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(qFatal() << "the end" << 5, "the end 5");
    EXPECT_DEATH(qCFatal(net).nospace() << "the end" << 5, "the end5");
    EXPECT_DEATH(qCFatal(net, "the end %d", 5), "the end 5");
    EXPECT_DEATH(
        {
            QDebug out = qFatal();
            out << "held" << 5;
        },
        "held 5");
}

TEST(QtDebugDeathTest, FatalWarnings) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(
        {
            qputenv("QT_FATAL_WARNINGS", "1");
            qputenv("QT_MESSAGE_PATTERN", "<%{type}> %{message}");
            qDebug() << "not yet";
            qWarning() << "too much" << 7;
        },
        "<warning> too much 7");
    EXPECT_EXIT(
        {
            qWarning() << "harmless";
            std::exit(0);
        },
        testing::ExitedWithCode(0), "");
    // A text that is not a number counts as one; others are counted down.
    EXPECT_DEATH(
        {
            qputenv("QT_FATAL_CRITICALS", "yes");
            qCritical("too much");
        },
        "too much");
    EXPECT_DEATH(
        {
            qputenv("QT_FATAL_WARNINGS", "0x2");
            qWarning() << "not yet";
            qWarning() << "too much";
        },
        "not yet\ntoo much\n");
}

// These were printed, each one.
TEST(QtDebugDeathTest, WarningsThatAreNotFatalAreNotPrinted) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    for (const char* none : {"0", "", "-1", "0x0"}) {
        EXPECT_EXIT(
            {
                qputenv("QT_FATAL_WARNINGS", none);
                qputenv("QT_FATAL_CRITICALS", none);
                qWarning() << "harmless";
                qCritical("%d", 1);
                std::exit(0);
            },
            testing::ExitedWithCode(0), "^$")
            << none;
    }
}

}  // namespace
