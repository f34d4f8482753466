// Types of Qt as arguments: signatures and bytes.
#include <QBitArray>
#include <QByteArrayList>
#include <QColor>
#include <QEvent>
#include <QObject>
#include <QVarLengthArray>
#include <map>
#include <silverpoint/filesystem.hpp>
#include <silverpoint/qt.hpp>
#include <vector>

#include "support/expect_value.hpp"

// What moc would write of a gadget is written here by moc itself (qt_values_test.moc).
class Weather {
    Q_GADGET
    Q_PROPERTY(int degrees MEMBER degrees)
    Q_PROPERTY(QString place MEMBER place)
    Q_PROPERTY(Sky sky MEMBER sky)

  public:
    enum class Sky { Clear, Cloudy = 5 };
    Q_ENUM(Sky)
    enum Part { NoPart = 0, Wind = 1, Rain = 4, Storm = Wind | Rain };
    Q_DECLARE_FLAGS(Parts, Part)
    Q_FLAG(Parts)

    int degrees = -3;
    QString place = "Oslo";
    Sky sky = Sky::Cloudy;
};
Q_DECLARE_OPERATORS_FOR_FLAGS(Weather::Parts)

// Where names are looked for, and no more.
namespace edges {
Q_NAMESPACE
enum class Edges {
    TooFar = -9,
    Least = -8,
    Zero = 0,
    Last = 63,
    Bit = 64,
    Next = 65,
    Most = 255,
    NextBit = 256,
    Beyond = 257,
    Far = 4096
};
Q_ENUM_NS(Edges)
enum class Answer : bool { No, Yes };
Q_ENUM_NS(Answer)
enum class Small : qint8 { Beyond = -128, Lowest = -8, Highest = 127 };
Q_ENUM_NS(Small)
#define NAMED(n) \
    kNamed##n = n, kThisIsAVeryLongNameThatSomeGeneratorHasWrittenOfAValueThatNobodyEverReadsAgain##n = n + 1
enum class Wordy {
    NAMED(62),
    NAMED(64),
    NAMED(66),
    NAMED(68),
    NAMED(70),
    NAMED(72),
    NAMED(74),
    NAMED(76),
    NAMED(78),
    NAMED(80),
    NAMED(82),
    NAMED(84),
    NAMED(86),
    NAMED(88),
    NAMED(90),
    NAMED(92),
    NAMED(94),
    NAMED(96),
    NAMED(98),
    NAMED(100),
    NAMED(102),
    NAMED(104),
    NAMED(106),
    NAMED(108),
    NAMED(110),
    NAMED(112),
    NAMED(114),
    NAMED(116),
    NAMED(118),
    NAMED(120),
    NAMED(122),
    NAMED(124),
    NAMED(126),
    NAMED(128),
    NAMED(130),
    NAMED(132),
    NAMED(134),
    NAMED(136),
    NAMED(138),
    NAMED(140),
    NAMED(142),
    NAMED(144),
    NAMED(146),
    NAMED(148),
    NAMED(150)
};
Q_ENUM_NS(Wordy)
}  // namespace edges
using namespace edges;

class Station : public QObject {
    Q_OBJECT
};

namespace {

using traced::one;
using namespace std::string_literals;

std::string bytes(const std::string& text) {
    std::string out = "v";
    char byte[8];
    for (const char c : text) {
        std::snprintf(byte, sizeof byte, ":%02x", static_cast<unsigned char>(c));
        out += byte;
    }
    return out;
}
// Items of CBOR as the writer makes them.
std::string text(const std::string& utf8) { return "\x79"s + '\0' + static_cast<char>(utf8.size()) + utf8; }
std::string array(const std::string& of) { return "\x9F" + of + "\xFF"; }
std::string map(const std::string& of) { return "\xBF" + of + "\xFF"; }

// --- Texts

TEST(QtTexts, KeepTheirEncoding) {
    const QString word = QStringLiteral("h\u00E9\U0001F600");
    EXPECT_VALUE("S", "u\"h\\x{E9}\\x{D83D}\\x{DE00}\"", word);
    EXPECT_VALUE("S", "u\"h\\x{E9}\"", QStringView(word).first(2));
    EXPECT_VALUE("S", "u\"\"", QString());
    EXPECT_VALUE("S", "u\"\"", QStringView());
    EXPECT_VALUE("s", "\"plain\"", QLatin1String("plain"));
    EXPECT_VALUE("s", "\"\u00E4\u00FF x\"", QLatin1String("\xE4\xFF x"));
    EXPECT_VALUE("s", "\"\"", QLatin1String());
    EXPECT_VALUE("y", "y:61:00:ff", QByteArray("a\0\xFF", 3));
    EXPECT_VALUE("y", "y:61", QByteArrayView("a"));
    EXPECT_VALUE("w", "'x'", QChar('x'));
    EXPECT_VALUE("w", "'\\x{E4}'", QLatin1Char('\xE4'));
    SP_INFO("{:>8}|{:s}|{:c}", word, QLatin1String("x"), QChar('y'));
    EXPECT_EQ(one().site.text, "{:>8}|{:s}|{:c}");
}

TEST(QtTexts, TooLongForARecordAreCut) {
    SP_INFO("{}", QString(1 << 24, 'x'));
    const auto seen = one();
    EXPECT_EQ(seen.site.signature, "S");
    EXPECT_NE(seen.text.find("x\"…+"), std::string::npos);
}

TEST(QtTexts, LiteralsOfStreamsStayLiterals) {
    SP_INFO << "name" << QString("Ada");
    const auto seen = one();
    EXPECT_EQ(seen.site.text, "name {}");
    EXPECT_EQ(seen.text, "u\"Ada\"");
}

// --- Containers

TEST(QtContainers, AreWhatTheyHold) {
    EXPECT_VALUE("[i", "[1, 2]", (QList<int>{1, 2}));
    EXPECT_VALUE("[S", "[u\"a\", u\"\"]", (QStringList{"a", ""}));
    EXPECT_VALUE("[y", "[y:61]", (QByteArrayList{"a"}));
    EXPECT_VALUE("[d", "[0.5]", (QVector<double>{0.5}));
    EXPECT_VALUE("[b", "[true, false]", (QList<bool>{true, false}));
    EXPECT_VALUE("$i", "${7}", (QSet<int>{7}));
    EXPECT_VALUE("{Si", "{u\"a\": 1, u\"b\": 2}", (QMap<QString, int>{{"b", 2}, {"a", 1}}));
    EXPECT_VALUE("{ii", "{1: 3, 1: 2}", (QMultiMap<int, int>{{1, 2}, {1, 3}}));
    EXPECT_VALUE("{iS", "{1: u\"x\"}", (QHash<int, QString>{{1, "x"}}));
    EXPECT_VALUE("{ii", "{1: 2}", (QMultiHash<int, int>{{1, 2}}));
    EXPECT_VALUE("(iS)", "(1, u\"x\")", (QPair<int, QString>(1, "x")));
    EXPECT_VALUE("[i", "[3]", (QVarLengthArray<int, 4>{3}));
    EXPECT_VALUE("{S[(ii)", "{u\"a\": [(1, 2)]}", (QMap<QString, QList<QPair<int, int>>>{{"a", {{1, 2}}}}));
    EXPECT_VALUE("[{Si", "[{u\"a\": 1}, {}]", (QList<QMap<QString, int>>{{{"a", 1}}, {}}));
    QBitArray bits(3);
    bits.setBit(1);
    EXPECT_VALUE("s", "\"010\"", bits);
    EXPECT_VALUE("[s", "[\"010\"]", (QList<QBitArray>{bits}));
}

TEST(QtContainers, OfPathsAreNotWalkedInto) {
    // A path can be walked, but is recorded whole, in a container too.
    EXPECT_VALUE("[s", "[\"/a/b\"]", (std::vector<std::filesystem::path>{"/a/b"}));
}

// --- Times

TEST(QtTimes, HaveZones) {
    const QDate date(2026, 11, 21);
    EXPECT_VALUE("s", "\"2026-11-21\"", date);
    EXPECT_VALUE("s", "\"-0044-03-15\"", QDate(-44, 3, 15));
    EXPECT_VALUE("s", "\"invalid\"", QDate());
    EXPECT_VALUE("s", "\"03:04:05.678\"", QTime(3, 4, 5, 678));
    EXPECT_VALUE("s", "\"invalid\"", QTime());
    constexpr std::string_view kSign = "?<QDateTime|time:t,zone:S,>";
    EXPECT_VALUE(kSign, "QDateTime{time: @1001000000, zone: u\"UTC\"}",
                 QDateTime::fromMSecsSinceEpoch(1001, Qt::UTC));
    EXPECT_VALUE(kSign, "QDateTime{time: @-1000000, zone: u\"UTC-05:30\"}",
                 QDateTime::fromMSecsSinceEpoch(-1, Qt::OffsetFromUTC, -5 * 3600 - 1800));
    EXPECT_VALUE(kSign, "QDateTime{time: @0, zone: u\"UTC+01:00:07\"}",
                 QDateTime::fromMSecsSinceEpoch(0, Qt::OffsetFromUTC, 3607));
    EXPECT_VALUE(kSign, "none", QDateTime());
    EXPECT_VALUE(kSign, "QDateTime{time: @9223372036854775807, zone: u\"UTC\"}",
                 QDateTime(QDate(3000, 1, 1), QTime(0, 0), Qt::UTC));
    SP_INFO("{}", QDateTime::fromMSecsSinceEpoch(0));
    EXPECT_EQ(one().site.signature, kSign);
}

// --- Geometry

TEST(QtGeometry, RecordsOfNumbers) {
    EXPECT_VALUE("<QPoint|x:i,y:i,>", "QPoint{x: 1, y: -2}", QPoint(1, -2));
    EXPECT_VALUE("<QPointF|x:d,y:d,>", "QPointF{x: 0.5, y: 2}", QPointF(0.5, 2));
    EXPECT_VALUE("<QSize|width:i,height:i,>", "QSize{width: 640, height: 480}", QSize(640, 480));
    EXPECT_VALUE("<QSizeF|width:d,height:d,>", "QSizeF{width: 1, height: 2}", QSizeF(1, 2));
    EXPECT_VALUE("<QRect|x:i,y:i,width:i,height:i,>", "QRect{x: 1, y: 2, width: 3, height: 4}",
                 QRect(1, 2, 3, 4));
    EXPECT_VALUE("<QRectF|x:d,y:d,width:d,height:d,>", "QRectF{x: 1, y: 2, width: 3, height: 4.5}",
                 QRectF(1, 2, 3, 4.5));
    EXPECT_VALUE("<QLine|p1:<QPoint|x:i,y:i,>,p2:<QPoint|x:i,y:i,>,>",
                 "QLine{p1: QPoint{x: 1, y: 2}, p2: QPoint{x: 3, y: 4}}", QLine(1, 2, 3, 4));
    EXPECT_VALUE("<QMargins|left:i,top:i,right:i,bottom:i,>",
                 "QMargins{left: 1, top: 2, right: 3, bottom: 4}", QMargins(1, 2, 3, 4));
    EXPECT_VALUE("?<QColor|red:H,green:H,blue:H,alpha:H,>", "none", QColor());
    EXPECT_VALUE("[?<QColor|red:H,green:H,blue:H,alpha:H,>",
                 "[QColor{red: 0, green: 0, blue: 65535, alpha: 65535}, none]",
                 (QList<QColor>{QColor(Qt::blue), QColor()}));
    EXPECT_VALUE("?<QColor|red:H,green:H,blue:H,alpha:H,>",
                 "QColor{red: 65535, green: 257, blue: 0, alpha: 65535}", QColor(255, 1, 0));
    EXPECT_VALUE("[<QPoint|x:i,y:i,>", "[QPoint{x: 1, y: 2}]", (QList<QPoint>{{1, 2}}));
}

// --- Names

TEST(QtIds, UuidsAndUrls) {
    const QUuid uuid("{01234567-89ab-cdef-0123-456789abcdef}");
    SP_INFO("{}", uuid);
    const auto seen = one();
    EXPECT_EQ(seen.site.signature, "u");
    EXPECT_EQ(seen.record.args.substr(0, 16), uuid.toRfc4122().toStdString());
    EXPECT_VALUE("S", "u\"http://me@example.org/a?b#c\"", QUrl("http://me:secret@example.org/a?b#c"));
    EXPECT_VALUE("S", "u\"\"", QUrl());
}

// What the compiler says, with every compiler.
enum class Hidden { Zero, Two = 2 };
static_assert(silverpoint::detail::value_name<Hidden, 2>() == "Two");
static_assert(silverpoint::detail::value_name<Hidden, 1>().empty());
static_assert(silverpoint::detail::value_name<edges::Edges, 255>() == "Most");
static_assert(silverpoint::detail::value_name<Qt::Key, Qt::Key_Escape>() == "Key_Escape");

TEST(QtEnums, NamesOfValuesAndBits) {
    EXPECT_VALUE("eWeather%3A%3ASky|i|0=Clear,5=Cloudy,;", "Weather%3A%3ASky(5)", Weather::Sky::Cloudy);
    EXPECT_VALUE("eWeather%3A%3ASky|i|0=Clear,5=Cloudy,;", "Weather%3A%3ASky(77)", Weather::Sky(77));
    EXPECT_VALUE("eQt%3A%3AOrientation|I|1=Horizontal,2=Vertical,;", "Qt%3A%3AOrientation(2)", Qt::Vertical);
    EXPECT_VALUE("@flags=0%3DNoPart%2C1%3DWind%2C4%3DRain;eWeather%3A%3APart|I|;", "Weather%3A%3APart(5)",
                 Weather::Wind | Weather::Rain);
    EXPECT_VALUE("eedges%3A%3AEdges|i|-8=Least,0=Zero,63=Last,64=Bit,65=Next,255=Most,256=NextBit,4096=Far,;",
                 "edges%3A%3AEdges(255)", Edges::Most);
    EXPECT_VALUE("eedges%3A%3ASmall|a|-8=Lowest,127=Highest,;", "edges%3A%3ASmall(-128)", Small::Beyond);
    EXPECT_VALUE("eedges%3A%3AAnswer|b|0=No,1=Yes,;", "edges%3A%3AAnswer(true)", Answer::Yes);
    // Names that leave no room for others.
    SP_INFO("{}", Wordy::kNamed62);
    const auto wordy = one();
    EXPECT_NE(wordy.site.signature.find(",63="), std::string::npos) << wordy.site.signature;
    EXPECT_EQ(wordy.site.signature.find(",65="), std::string::npos) << wordy.site.signature;
    EXPECT_NE(wordy.site.signature.find(",64="), std::string::npos) << wordy.site.signature;
    SP_INFO("{}", QEvent::DynamicPropertyChange);
    const auto event = one();
    EXPECT_NE(event.site.signature.find(",170=DynamicPropertyChange,"), std::string::npos)
        << event.site.signature;
    EXPECT_EQ(event.text, "QEvent%3A%3AType(170)");
    const Qt::Alignment centre = Qt::AlignHCenter | Qt::AlignTop;
    SP_INFO("{}", centre);
    const auto seen = one();
    EXPECT_NE(seen.site.signature.find("4%3DAlignHCenter"), std::string::npos) << seen.site.signature;
    EXPECT_NE(seen.site.signature.find("32%3DAlignTop"), std::string::npos) << seen.site.signature;
    EXPECT_EQ(seen.text, "Qt%3A%3AAlignmentFlag(36)");
}

// --- Objects

TEST(QtObjects, ClassAndName) {
    Station station;
    station.setObjectName("north");
    constexpr std::string_view kSign = "?<QObject|class:s,name:S,address:p,>";
    char address[40];
    std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(quintptr(&station)));
    const std::string shown = "QObject{class: \"Station\", name: u\"north\", address: "s + address + "}";
    EXPECT_VALUE(kSign, shown, &station);
    EXPECT_VALUE(kSign, shown, static_cast<const QObject*>(&station));
    EXPECT_VALUE(kSign, shown, QPointer<Station>(&station));
    EXPECT_VALUE(kSign, "none", static_cast<Station*>(nullptr));
    EXPECT_VALUE(("[" + std::string(kSign)), "[" + shown + ", none]", (QList<QObject*>{&station, nullptr}));
    QPointer<QObject> gone;
    {
        QObject brief;
        gone = &brief;
    }
    EXPECT_VALUE(kSign, "none", gone);
    const QSharedPointer<Station> shared(new Station);
    SP_INFO("{}", shared);
    EXPECT_EQ(one().site.signature, kSign);
    const QScopedPointer<Station> scoped;
    EXPECT_VALUE(kSign, "none", scoped);
    // They were an address alone.
    const std::shared_ptr<Station> standard(&station, [](Station*) {});
    EXPECT_VALUE(kSign, shown, standard);
    EXPECT_VALUE(kSign, "none", std::unique_ptr<QObject>());
    const std::vector<std::shared_ptr<Station>> several{standard, nullptr};
    EXPECT_VALUE(("[" + std::string(kSign)), "[" + shown + ", none]", several);
}

// An object whose class is another one each time that it is asked.
class Changeling : public QObject {
  public:
    const QMetaObject* metaObject() const override {
        return ++asked % 2 == 0 ? &staticMetaObject : &Station::staticMetaObject;
    }
    mutable int asked = 0;
};

TEST(QtObjects, AreAskedOnce) {
    const auto check = [](const auto& value, const Changeling& object, const std::string& text) {
        const int before = object.asked;
        SP_INFO("{} {}", value, 77);
        EXPECT_EQ(object.asked, before + 1);
        const auto seen = one();
        EXPECT_NE(seen.text.find(text), std::string::npos) << seen.text;
        EXPECT_TRUE(seen.text.ends_with(" 77")) << seen.text;
    };
    Changeling object;
    const std::string shown = "QObject{class: \"";
    check(static_cast<const Changeling*>(&object), object, shown);
    check(QPointer<Changeling>(&object), object, shown);
    check(QList<QPointer<Changeling>>{&object}, object, "[" + shown);
    check(QList<QObject*>{&object}, object, "[" + shown);
    check(std::vector<QObject*>{&object}, object, "[" + shown);
    check(QMap<QString, QObject*>{{"k", &object}}, object, "{u\"k\": " + shown);
    check(QList<QPair<int, QObject*>>{{5, &object}}, object, "[(5, " + shown);
    check(std::map<int, QObject*>{{5, &object}}, object, "{5: " + shown);
    const auto shared = QSharedPointer<Changeling>::create();
    check(shared, *shared, shown);
    const std::unique_ptr<Changeling> owner(new Changeling);
    check(owner, *owner, shown);
    check(QList<QSharedPointer<Changeling>>{shared}, *shared, "[" + shown);
    check(QSharedPointer<QList<QObject*>>::create(QList<QObject*>{&object}), object, "[" + shown);
}

TEST(QtObjects, Pointers) {
    EXPECT_VALUE("?i", "7", QSharedPointer<int>::create(7));
    EXPECT_VALUE("?i", "none", QSharedPointer<int>());
    const QScopedPointer<QString> text(new QString("x"));
    EXPECT_VALUE("?S", "u\"x\"", text);
    struct Opaque {};
    EXPECT_VALUE("?p", "none", QSharedPointer<Opaque>());
    const auto number = QSharedPointer<int>::create(7);
    EXPECT_VALUE("b", "true", QWeakPointer<int>(number));
    EXPECT_VALUE("b", "false", QWeakPointer<int>());
}

// --- What carries its types itself

const std::string kWeather =
    map(text("degrees") + "\x22" + text("place") + text("Oslo") + text("sky") + text("Cloudy"));

TEST(QtVariants, HoldTypedValues) {
    EXPECT_VALUE("v", bytes("\x07"), QVariant(7));
    EXPECT_VALUE("v", bytes("\xF6"), QVariant());
    EXPECT_VALUE("v", bytes("\xF5"), QVariant(true));
    EXPECT_VALUE("v", bytes(text("\u00E4")), QVariant(QStringLiteral("\u00E4")));
    EXPECT_VALUE("v", bytes("\x59\x00\x02\x61\xFF"s), QVariant(QByteArray("a\xFF")));
    EXPECT_VALUE("v", bytes("\xFB\x3F\xE0\0\0\0\0\0\0"s), QVariant(0.5));
    EXPECT_VALUE("v", bytes(array("\x01" + text("a") + array("\x02"))),
                 QVariant(QVariantList{1, "a", QVariantList{2}}));
    EXPECT_VALUE("v", bytes(map(text("a") + map(text("b") + "\xF4"))),
                 QVariant(QVariantMap{{"a", QVariantMap{{"b", false}}}}));
    EXPECT_VALUE("v", bytes(array(text("a") + text("b"))), QVariant(QStringList{"a", "b"}));
    EXPECT_VALUE("v", bytes(map(text("x") + "\x01" + text("y") + "\x02")), QVariant(QPoint(1, 2)));
    EXPECT_VALUE("v", bytes(text("2026-11-21")), QVariant(QDate(2026, 11, 21)));
    EXPECT_VALUE("v", bytes(text("Vertical")), QVariant::fromValue(Qt::Vertical));
    EXPECT_VALUE("v", bytes(array("\x01\x02")), QVariant::fromValue(QList<int>{1, 2}));
    EXPECT_VALUE("v", bytes(map(text("a") + "\x01")), QVariant::fromValue(QMap<QString, int>{{"a", 1}}));
    EXPECT_VALUE("v", bytes(kWeather), QVariant::fromValue(Weather()));
    Station station;
    station.setObjectName("north");
    SP_INFO("{}", QVariant::fromValue(&station));
    const std::string object =
        bytes("\xBF" + text("class") + text("Station") + text("name") + text("north") + text("address"));
    const std::string seen = one().text;
    EXPECT_TRUE(seen.starts_with(object)) << seen;
    EXPECT_VALUE("v", bytes("\xF6"), QVariant::fromValue(static_cast<QObject*>(nullptr)));
    EXPECT_VALUE("[v", "[" + bytes("\x01") + "]", (QList<QVariant>{1}));
}

TEST(QtVariants, EndSomewhere) {
    QVariant deep = 1;
    for (int i = 0; i < 20; ++i) deep = QVariantList{deep};
    EXPECT_VALUE("v", bytes(std::string(8, '\x9F') + text("\u2026") + std::string(8, '\xFF')), deep);
    QVariantList wide;
    for (int i = 0; i < 5000; ++i) wide << i;
    EXPECT_VALUE("v", bytes(text("\u2026")), QVariant(wide));
    SP_INFO("{} {}", QVariant(wide), 5);
    EXPECT_EQ(one().text, bytes(text("\u2026")) + " 5");
}

TEST(QtVariants, LongTextsAreMarkedAsCut) {
    const std::string kept = std::string(3994, 'x') + "\u2026";
    const std::string cut = "\x79\x0F\x9D"s + kept;
    ASSERT_EQ(cut.size(), 4000u);
    EXPECT_VALUE("v", bytes(cut), QVariant(QString(5000, 'x')));
    EXPECT_VALUE("[v", "[" + bytes(cut) + "]", (QVariantList{QString(5000, 'x')}));
    // Not within a character.
    SP_INFO("{}", QVariant(QString(5000, QChar(0xE4))));
    const std::string seen = one().text;
    EXPECT_TRUE(seen.ends_with(":c3:a4:e2:80:a6")) << seen.substr(seen.size() - 30);
    // The records say so, too.
    SP_INFO("{}", QVariant(QString(5000, 'x')));
    EXPECT_TRUE((one().record.flags & 1) != 0);
    SP_INFO("{}", QVariant(QByteArray(5000, 'x')));
    EXPECT_TRUE((one().record.flags & 1) != 0);
    SP_INFO("{}", QVariant(QString(3997, 'x')));
    EXPECT_FALSE((one().record.flags & 1) != 0);
    SP_INFO("{}", (QMap<int, QVariantList>{{1, {2, QString(5000, 'x')}}}));
    EXPECT_TRUE((one().record.flags & 1) != 0) << "within";
    SP_INFO("{}", (QMap<int, QVariantList>{{1, {2, QString(3997, 'x')}}}));
    EXPECT_FALSE((one().record.flags & 1) != 0);
    // A text within is not cut without a mark.
    EXPECT_VALUE("v", bytes(text("\u2026")), QVariant(QVariantList{QString(5000, QChar(0xE4))}));
}

TEST(QtVariants, KeysHaveTheirValues) {
    // A key that takes all the room: the item is left out, not half of a pair.
    for (const int size : {3980, 3990, 3992, 3993, 3994, 3995, 3996, 3997, 5000}) {
        const QVariantMap map{{QString(size, QChar(0xE4)), 1}, {QString(size, 'k'), 2}};
        SP_INFO("{}", QVariant(map));
        EXPECT_EQ(one().text, bytes(text("\u2026"))) << size;
        const QVariantMap single{{QString(size, 'k'), 2}};
        SP_INFO("{}", QVariant(single));
        const std::string whole =
            "\xBF\x79"s + char(size >> 8) + char(size & 0xFF) + std::string(size, 'k') + "\x02\xFF";
        EXPECT_EQ(one().text, bytes(size <= 3994 ? whole : text("\u2026"))) << size;
    }
    // Keys that are cut where some bytes are left.
    for (const QString& before : {QString(), QString("x"), QString("xx"), QString("xxx")}) {
        for (const char* character : {"\u00E4", "\u20AC", "\U0001F600"}) {
            const QString key = before + QString::fromUtf8(character).repeated(5000);
            EXPECT_VALUE("v", bytes(text("\u2026")), QVariant(QVariantMap{{key, 1}}));
            EXPECT_VALUE("v", bytes(text("\u2026")), QVariant::fromValue(QMap<QString, int>{{key, 1}}));
            EXPECT_VALUE("v", bytes(text("\u2026")), (QJsonObject{{key, 1}}));
        }
    }
}

TEST(QtVariants, Json) {
    EXPECT_VALUE("v", bytes("\x05"), QJsonValue(5));
    EXPECT_VALUE("v", bytes("\xFB\x3F\xE0\0\0\0\0\0\0"s), QJsonValue(0.5));
    EXPECT_VALUE("v", bytes("\xF6"), QJsonValue());
    EXPECT_VALUE("v", bytes(text("t")), QJsonValue("t"));
    const QJsonArray list{1, QJsonValue::Null, QJsonObject{{"k", true}}};
    const std::string shown = array("\x01\xF6" + map(text("k") + "\xF5"));
    EXPECT_VALUE("v", bytes(shown), list);
    EXPECT_VALUE("v", bytes(shown), QJsonValue(list));
    EXPECT_VALUE("v", bytes(shown), QJsonDocument(list));
    EXPECT_VALUE("v", bytes(map(text("a") + shown)), (QJsonObject{{"a", list}}));
    EXPECT_VALUE("[v", "[" + bytes(map("")) + "]", (QList<QJsonObject>{{}}));
}

TEST(QtGadgets, AreTheirProperties) { EXPECT_VALUE("v", bytes(kWeather), Weather()); }

// --- Streams that are held

TEST(QtHeld, EverythingIsAnItem) {
    Station station;
    station.setObjectName("n");
    {
        auto line = SP_STREAM(info);
        line << QString("a") << QLatin1String("\xE4") << QChar('c') << Qt::Vertical
             << (Weather::Wind | Weather::Rain) << QDateTime() << QMap<int, QString>{{1, "x"}} << &station
             << QUrl("http://x") << QDate(2026, 1, 2) << QSharedPointer<int>::create(7) << QPoint(1, 2)
             << QWeakPointer<int>() << QJsonArray{1} << QUuid();
    }
    const auto seen = one();
    char address[40];
    std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(quintptr(&station)));
    const std::string items = array(
        text("a") + text("\u00E4") + text("c") + text("Vertical") + text("Wind|Rain") + "\xF6" +
        map("\x01" + text("x")) +
        map(text("class") + text("Station") + text("name") + text("n") + text("address") + text(address)) +
        text("http://x") + text("2026-01-02") + "\x07" + map(text("x") + "\x01" + text("y") + "\x02") +
        "\xF4" + array("\x01") + "\xD8\x25\x59\x00\x10"s + std::string(16, '\0'));
    EXPECT_EQ(seen.text, bytes(items));
}

}  // namespace

#include "qt_values_test.moc"
