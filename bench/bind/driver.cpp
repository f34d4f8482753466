// What writing and reading own types costs, beside Qt's classes and nlohmann's. One process runs all
// candidates in turn, so that a slow moment of the machine affects all. Prints one JSON object a figure.
//
//   driver ROUNDS SEED
//
// Every output is read back by another library before anything is timed.
#include <QtCore/QByteArray>
#include <QtCore/QCborArray>
#include <QtCore/QCborMap>
#include <QtCore/QCborStreamWriter>
#include <QtCore/QCborValue>
#include <QtCore/QDebug>
#include <QtCore/QJsonArray>
#include <QtCore/QJsonDocument>
#include <QtCore/QJsonObject>
#include <QtCore/QList>
#include <QtCore/QString>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <silverpoint/bind.hpp>
#include <string>
#include <vector>

struct Small {
    std::uint64_t id = 0;
    double price = 0;
    std::uint32_t quantity = 0;
    bool active = false;
    std::string symbol;
};
struct Mapped {
    std::uint64_t id = 0;
    int level = 0;
    double ratio = 0;
    std::map<std::string, int> counts;
};
using Floats = std::array<float, 128>;
// A text alone, in an array: Qt's documents have no texts at their root.
using Literal = std::array<std::string, 1>;
struct Order {
    std::uint64_t id = 0;
    double price = 0;
    std::uint32_t quantity = 0;
    std::string symbol, note;
    std::vector<std::string> tags;
    Mapped more;
};
using Orders = std::vector<Order>;

SP_STRUCT(Small, id, price, quantity, active, symbol)
SP_STRUCT(Mapped, id, level, ratio, counts)
SP_STRUCT(Order, id, price, quantity, symbol, note, tags, more)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Small, id, price, quantity, active, symbol)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Mapped, id, level, ratio, counts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Order, id, price, quantity, symbol, note, tags, more)

// The same values as a program with Qt holds them: texts are QString.
struct QtSmall {
    quint64 id = 0;
    double price = 0;
    quint32 quantity = 0;
    bool active = false;
    QString symbol;
};
struct QtMapped {
    quint64 id = 0;
    int level = 0;
    double ratio = 0;
    std::map<QString, int> counts;
};
struct QtOrder {
    quint64 id = 0;
    double price = 0;
    quint32 quantity = 0;
    QString symbol, note;
    std::vector<QString> tags;
    QtMapped more;
};
using QtLiteral = std::array<QString, 1>;
using QtOrders = std::vector<QtOrder>;

// --- Qt: JSON.

QJsonValue to_qt(const Floats& floats) {
    QJsonArray out;
    for (const float value : floats) out.append(static_cast<double>(value));
    return out;
}
QJsonValue to_qt(const QtLiteral& v) { return QJsonArray{v[0]}; }
QJsonValue to_qt(const QtSmall& v) {
    QJsonObject out;
    out.insert(QLatin1String("id"), static_cast<qint64>(v.id));
    out.insert(QLatin1String("price"), v.price);
    out.insert(QLatin1String("quantity"), static_cast<qint64>(v.quantity));
    out.insert(QLatin1String("active"), v.active);
    out.insert(QLatin1String("symbol"), v.symbol);
    return out;
}
QJsonValue to_qt(const QtMapped& v) {
    QJsonObject out, counts;
    for (const auto& [name, count] : v.counts) counts.insert(name, count);
    out.insert(QLatin1String("id"), static_cast<qint64>(v.id));
    out.insert(QLatin1String("level"), v.level);
    out.insert(QLatin1String("ratio"), v.ratio);
    out.insert(QLatin1String("counts"), counts);
    return out;
}
QJsonValue to_qt(const QtOrders& orders) {
    QJsonArray out;
    for (const QtOrder& v : orders) {
        QJsonObject one;
        QJsonArray tags;
        for (const QString& tag : v.tags) tags.append(tag);
        one.insert(QLatin1String("id"), static_cast<qint64>(v.id));
        one.insert(QLatin1String("price"), v.price);
        one.insert(QLatin1String("quantity"), static_cast<qint64>(v.quantity));
        one.insert(QLatin1String("symbol"), v.symbol);
        one.insert(QLatin1String("note"), v.note);
        one.insert(QLatin1String("tags"), tags);
        one.insert(QLatin1String("more"), to_qt(v.more));
        out.append(one);
    }
    return out;
}
template <class T>
QByteArray qt_json(const T& value) {
    const QJsonValue root = to_qt(value);
    return (root.isArray() ? QJsonDocument(root.toArray()) : QJsonDocument(root.toObject()))
        .toJson(QJsonDocument::Compact);
}

// --- Qt: CBOR, by its streaming writer.

void stream(QCborStreamWriter& out, const Floats& floats) {
    out.startArray(floats.size());
    for (const float value : floats) out.append(value);
    out.endArray();
}
void stream(QCborStreamWriter& out, const QtLiteral& v) {
    out.startArray(1);
    out.append(v[0]);
    out.endArray();
}
void stream(QCborStreamWriter& out, const QtSmall& v) {
    out.startMap(5);
    out.append(QLatin1String("id")), out.append(v.id);
    out.append(QLatin1String("price")), out.append(v.price);
    out.append(QLatin1String("quantity")), out.append(quint64{v.quantity});
    out.append(QLatin1String("active")), out.append(v.active);
    out.append(QLatin1String("symbol")), out.append(v.symbol);
    out.endMap();
}
void stream(QCborStreamWriter& out, const QtMapped& v) {
    out.startMap(4);
    out.append(QLatin1String("id")), out.append(v.id);
    out.append(QLatin1String("level")), out.append(qint64{v.level});
    out.append(QLatin1String("ratio")), out.append(v.ratio);
    out.append(QLatin1String("counts"));
    out.startMap(v.counts.size());
    for (const auto& [name, count] : v.counts) out.append(name), out.append(qint64{count});
    out.endMap();
    out.endMap();
}
void stream(QCborStreamWriter& out, const QtOrders& orders) {
    out.startArray(orders.size());
    for (const QtOrder& v : orders) {
        out.startMap(7);
        out.append(QLatin1String("id")), out.append(v.id);
        out.append(QLatin1String("price")), out.append(v.price);
        out.append(QLatin1String("quantity")), out.append(quint64{v.quantity});
        out.append(QLatin1String("symbol")), out.append(v.symbol);
        out.append(QLatin1String("note")), out.append(v.note);
        out.append(QLatin1String("tags"));
        out.startArray(v.tags.size());
        for (const QString& tag : v.tags) out.append(tag);
        out.endArray();
        out.append(QLatin1String("more"));
        stream(out, v.more);
        out.endMap();
    }
    out.endArray();
}
template <class T>
QByteArray qt_cbor_stream(const T& value) {
    QByteArray out;
    QCborStreamWriter writer(&out);
    stream(writer, value);
    return out;
}
template <class T>
QByteArray qt_cbor_value(const T& value) {
    return QCborValue::fromJsonValue(to_qt(value)).toCbor();
}

// --- Qt: reading.

void from_qt(const QJsonValue& from, Floats& floats) {
    const QJsonArray array = from.toArray();
    for (qsizetype i = 0; i < array.size() && i < 128; ++i)
        floats[static_cast<std::size_t>(i)] = static_cast<float>(array[i].toDouble());
}
void from_qt(const QJsonValue& from, QtLiteral& v) { v[0] = from.toArray().at(0).toString(); }
void from_qt(const QJsonValue& from, QtSmall& v) {
    const QJsonObject object = from.toObject();
    v.id = static_cast<quint64>(object.value(QLatin1String("id")).toInteger());
    v.price = object.value(QLatin1String("price")).toDouble();
    v.quantity = static_cast<quint32>(object.value(QLatin1String("quantity")).toInteger());
    v.active = object.value(QLatin1String("active")).toBool();
    v.symbol = object.value(QLatin1String("symbol")).toString();
}
void from_qt(const QJsonValue& from, QtMapped& v) {
    const QJsonObject object = from.toObject(), counts = object.value(QLatin1String("counts")).toObject();
    v.id = static_cast<quint64>(object.value(QLatin1String("id")).toInteger());
    v.level = object.value(QLatin1String("level")).toInt();
    v.ratio = object.value(QLatin1String("ratio")).toDouble();
    v.counts.clear();
    for (auto it = counts.begin(); it != counts.end(); ++it) v.counts.emplace(it.key(), it.value().toInt());
}
void from_qt(const QJsonValue& from, QtOrders& orders) {
    orders.clear();
    for (const QJsonValue& one : from.toArray()) {
        const QJsonObject object = one.toObject();
        QtOrder& v = orders.emplace_back();
        v.id = static_cast<quint64>(object.value(QLatin1String("id")).toInteger());
        v.price = object.value(QLatin1String("price")).toDouble();
        v.quantity = static_cast<quint32>(object.value(QLatin1String("quantity")).toInteger());
        v.symbol = object.value(QLatin1String("symbol")).toString();
        v.note = object.value(QLatin1String("note")).toString();
        for (const QJsonValue& tag : object.value(QLatin1String("tags")).toArray())
            v.tags.push_back(tag.toString());
        from_qt(object.value(QLatin1String("more")), v.more);
    }
}

// --- Qt: text, as a line of qDebug makes it before it is written anywhere.

void debug(QDebug to, const QtLiteral&) { to << "bench literal"; }
void debug(QDebug to, const QtMapped& v) { to << "bench map" << v.id << v.level << v.ratio << v.counts; }
void debug(QDebug to, const QList<float>& floats) { to << "bench floats" << floats; }
template <class T>
QString qt_debug(const T& value) {
    QString out;
    debug(QDebug(&out), value);
    return out;
}

// --- Measuring.

struct Candidate {
    std::string name, operation, library;
    std::function<std::size_t()> run;  // once; gives something that depends on it
    std::size_t bytes = 0;
    std::size_t repeats = 1;
    std::vector<double> ns;
};
std::vector<Candidate> candidates;
volatile std::size_t seen;

double time_of(const Candidate& candidate) {
    const auto begin = std::chrono::steady_clock::now();
    std::size_t sum = 0;
    for (std::size_t i = 0; i < candidate.repeats; ++i) sum += candidate.run();
    const double ns =
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
    seen = seen + sum;
    return ns / static_cast<double>(candidate.repeats);
}

void check(bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "bind: %s: not the same value\n", what);
    std::exit(1);
}
std::string_view view(const QByteArray& bytes) {
    return {bytes.constData(), static_cast<std::size_t>(bytes.size())};
}

template <class T, class Qt>
void add(const char* name, const T& value, const Qt& qt) {
    std::string json, cbor;
    check(silverpoint::to_json(value, json).ok() && silverpoint::to_cbor(value, cbor).ok(), name);
    // Each output, as another library understands it.
    using Json = nlohmann::json;
    const auto same = [&](std::string_view text, bool is_json) {
        T read{};
        const auto result = is_json ? silverpoint::from_json(text, read) : silverpoint::from_cbor(text, read);
        std::string again;
        check(result.ok() && silverpoint::to_json(read, again).ok() && again == json, name);
    };
    same(Json(value).dump(), true);
    const auto packed = Json::to_cbor(Json(value));
    same({reinterpret_cast<const char*>(packed.data()), packed.size()}, false);
    same(view(qt_json(qt)), true);
    same(view(qt_cbor_stream(qt)), false);
    same(view(qt_cbor_value(qt)), false);

    const auto put = [&](const char* operation, const char* library, std::size_t bytes, auto run) {
        candidates.push_back({name, operation, library, run, bytes, 1, {}});
    };
    put("write JSON", "silverpoint", json.size(), [&value] {
        silverpoint::JsonWriter out;
        return silverpoint::bind(out, value) ? out.view().size() : 0;
    });
    put("write JSON", "Qt QJsonDocument", json.size(),
        [&qt] { return static_cast<std::size_t>(qt_json(qt).size()); });
    put("write JSON", "nlohmann", json.size(), [&value] { return Json(value).dump().size(); });
    put("write CBOR", "silverpoint", cbor.size(), [&value] {
        silverpoint::CborWriter out;
        return silverpoint::bind(out, value) ? out.view().size() : 0;
    });
    put("write CBOR", "Qt QCborStreamWriter", cbor.size(),
        [&qt] { return static_cast<std::size_t>(qt_cbor_stream(qt).size()); });
    put("write CBOR", "Qt QCborValue", cbor.size(),
        [&qt] { return static_cast<std::size_t>(qt_cbor_value(qt).size()); });
    put("write CBOR", "nlohmann", cbor.size(), [&value] { return Json::to_cbor(Json(value)).size(); });
    put("read JSON", "silverpoint", json.size(), [json] {
        T read{};
        return static_cast<std::size_t>(silverpoint::from_json(json, read).ok());
    });
    put("read JSON", "Qt QJsonDocument", json.size(), [bytes = QByteArray::fromStdString(json)] {
        Qt read{};
        const QJsonDocument document = QJsonDocument::fromJson(bytes);
        from_qt(document.isArray() ? QJsonValue(document.array()) : QJsonValue(document.object()), read);
        return static_cast<std::size_t>(document.isNull() ? 0 : 1);
    });
    put("read JSON", "nlohmann", json.size(), [json] {
        const T read = Json::parse(json).get<T>();
        return sizeof read;
    });
    put("read CBOR", "silverpoint", cbor.size(), [cbor] {
        T read{};
        return static_cast<std::size_t>(silverpoint::from_cbor(cbor, read).ok());
    });
    put("read CBOR", "Qt QCborValue", cbor.size(), [bytes = QByteArray::fromStdString(cbor)] {
        Qt read{};
        from_qt(QCborValue::fromCbor(bytes).toJsonValue(), read);
        return sizeof read;
    });
    put("read CBOR", "nlohmann", cbor.size(), [cbor] {
        const T read = Json::from_cbor(cbor).get<T>();
        return sizeof read;
    });
}

// `value` is what Qt has; nothing of ours makes text in the call.
template <class T>
void add_text(const char* name, const T& value) {
    const auto size = static_cast<std::size_t>(qt_debug(value).toUtf8().size());
    check(qt_debug(value).startsWith(QLatin1String("bench ")), name);
    candidates.push_back({name,
                          "write text",
                          "Qt QDebug",
                          [&value] { return static_cast<std::size_t>(qt_debug(value).size()); },
                          size,
                          1,
                          {}});
}

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
    std::mt19937 random(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1u);
    const Small small{7, 101.25, 500, true, "ACME"};
    const Mapped mapped{7, -3, 0.6180339887498949, {{"first", 1}, {"second", 22}, {"third", 333}}};
    const Literal literal{"bench literal"};
    const QtLiteral qt_literal{QStringLiteral("bench literal")};
    const QtSmall qt_small{7, 101.25, 500, true, "ACME"};
    const QtMapped qt_mapped{7, -3, 0.6180339887498949, {{"first", 1}, {"second", 22}, {"third", 333}}};
    Floats floats;
    for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>(i) * 0.37f + 0.1f;
    const QList<float> qt_floats(floats.begin(), floats.end());
    Orders orders(1000);
    QtOrders qt_orders(1000);
    for (std::size_t i = 0; i < orders.size(); ++i) {
        Order& order = orders[i];
        order.id = 1'000'000 + i;
        order.price = 100 + static_cast<double>(random() % 10000) / 100;
        order.quantity = random() % 1000;
        order.symbol = i % 2 == 0 ? "ACME" : "EURUSD";
        order.note = "a note of some length, without anything special, as most texts are";
        order.tags = {"fast", "limit", "day"};
        order.more = mapped;
        QtOrder& qt = qt_orders[i];
        qt.id = order.id, qt.price = order.price, qt.quantity = order.quantity;
        qt.symbol = QString::fromStdString(order.symbol), qt.note = QString::fromStdString(order.note);
        for (const std::string& tag : order.tags) qt.tags.push_back(QString::fromStdString(tag));
        qt.more = qt_mapped;
    }
    add("a literal", literal, qt_literal);
    add("small struct", small, qt_small);
    add("map and atoms", mapped, qt_mapped);
    add("128 floats", floats, floats);
    add("1000 orders", orders, qt_orders);
    add_text("a literal", qt_literal);
    add_text("map and atoms", qt_mapped);
    add_text("128 floats", qt_floats);
    // A turn takes about 200 microseconds, or one run.
    for (Candidate& candidate : candidates) {
        time_of(candidate);
        const double once = time_of(candidate);
        candidate.repeats = static_cast<std::size_t>(std::clamp(200'000 / (once + 1), 1.0, 5000.0));
    }
    std::vector<Candidate*> order;
    for (Candidate& candidate : candidates) order.push_back(&candidate);
    for (int round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (Candidate* candidate : order) candidate->ns.push_back(time_of(*candidate));
    }
    for (Candidate& candidate : candidates) {
        const auto half = candidate.ns.begin() + static_cast<std::ptrdiff_t>(candidate.ns.size() / 2);
        std::nth_element(candidate.ns.begin(), half, candidate.ns.end());
        std::printf("{\"case\":\"%s\",\"operation\":\"%s\",\"library\":\"%s\",\"bytes\":%zu,\"ns\":%.1f}\n",
                    candidate.name.c_str(), candidate.operation.c_str(), candidate.library.c_str(),
                    candidate.bytes, *half);
    }
}
