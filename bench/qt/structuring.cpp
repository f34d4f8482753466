// What it costs to structure the arguments of a tracepoint, as in the source of table S1. They become bytes
// or text in memory, and are delivered nowhere.
//
// One program a way, compiled with -DWAY=…. Qt's ways take the arguments as a program with Qt holds them
// (QMap, QList), ours as one without (std::map, std::array). There is no clock and no context in any of them.
// At the end the last output goes to $BENCH_FILE. The number of outputs and the last id go to the file of the
// other variable.
#define QDEBUG_TEXT 1
#define QT_JSON 2
#define QT_CBOR_VALUE 3
#define QT_CBOR_STREAM 4
#define PACKED 5
#define BIND_JSON 6
#define BIND_CBOR 7

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#if WAY >= PACKED
#    include <silverpoint/bind.hpp>
#    include <silverpoint/silverpoint.hpp>
#else
#    include <QCborArray>
#    include <QCborMap>
#    include <QCborStreamWriter>
#    include <QCborValue>
#    include <QDebug>
#    include <QJsonArray>
#    include <QJsonDocument>
#    include <QJsonObject>
#    include <QList>
#    include <QMap>
#    include <QString>
#endif

#include "../cpp/case.hpp"
#include "../harness/harness.h"

namespace {

struct Inputs {
#if WAY >= PACKED
    std::array<float, 128> samples{};
    std::map<std::string, std::int32_t> counts{{"alpha", 1}, {"beta", 20}, {"gamma", 300}};
#else
    QList<float> samples = QList<float>(128);
    QMap<QString, int> counts{{"alpha", 1}, {"beta", 20}, {"gamma", 300}};
#endif
    Inputs() {
        int i = 0;
        for (float& sample : samples) sample = 0.25F * static_cast<float>(i++);
    }
};
const Inputs inputs;

// How many were made; each is kept until the next.
std::uint64_t made = 0, last_id = 0;

// What the compiler must believe to be read.
[[gnu::always_inline]] inline void keep(const void* bytes) {
    __asm__ volatile("" : : "r"(bytes) : "memory");
    ++made;
}

#if WAY == QDEBUG_TEXT
#    define NAME "QDebug, into a QString"

QString last;
template <class... Arguments>
void structure(const Arguments&... arguments) {
    last = QString();
    {
        QDebug out(&last);
        (out << ... << arguments);
    }
    keep(last.constData());
}
std::string last_bytes() { return last.toStdString(); }
const auto& map_of() { return inputs.counts; }
const auto& floats_of() { return inputs.samples; }

#elif WAY == QT_JSON || WAY == QT_CBOR_VALUE
QByteArray last;
#    if WAY == QT_JSON
#        define NAME "QJsonDocument"
using Array = QJsonArray;
using Object = QJsonObject;
QByteArray bytes_of(const Array& array) { return QJsonDocument(array).toJson(QJsonDocument::Compact); }
#    else
#        define NAME "QCborValue"
using Array = QCborArray;
using Object = QCborMap;
QByteArray bytes_of(const Array& array) { return array.toCborValue().toCbor(); }
#    endif
using Item = Array::value_type;

template <class... Arguments>
void structure(const Arguments&... arguments) {
    last = bytes_of(Array{Item(arguments)...});
    keep(last.constData());
}
std::string last_bytes() { return last.toStdString(); }
Item map_of() {
    Object found;
    for (auto at = inputs.counts.begin(); at != inputs.counts.end(); ++at) found.insert(at.key(), at.value());
    return found;
}
Item floats_of() {
    Array found;
    for (const float one : inputs.samples) found.append(static_cast<double>(one));
    return found;
}

#elif WAY == QT_CBOR_STREAM
#    define NAME "QCborStreamWriter"

QByteArray last;
void put(QCborStreamWriter& to, const char* text) { to.append(QLatin1String(text)); }
void put(QCborStreamWriter& to, qint64 number) { to.append(number); }
void put(QCborStreamWriter& to, std::int32_t number) { to.append(number); }
void put(QCborStreamWriter& to, double number) { to.append(number); }
void put(QCborStreamWriter& to, const QMap<QString, int>& map) {
    to.startMap(static_cast<quint64>(map.size()));
    for (auto at = map.begin(); at != map.end(); ++at) {
        to.append(QStringView(at.key()));
        to.append(at.value());
    }
    to.endMap();
}
void put(QCborStreamWriter& to, const QList<float>& list) {
    to.startArray(static_cast<quint64>(list.size()));
    for (const float one : list) to.append(one);
    to.endArray();
}
template <class... Arguments>
void structure(const Arguments&... arguments) {
    last.clear();
    QCborStreamWriter to(&last);
    to.startArray(sizeof...(arguments));
    (put(to, arguments), ...);
    to.endArray();
    keep(last.constData());
}
std::string last_bytes() { return last.toStdString(); }
const auto& map_of() { return inputs.counts; }
const auto& floats_of() { return inputs.samples; }

#elif WAY == PACKED
#    define NAME "silverpoint, a packed copy"

// What a tracepoint does with its arguments (detail/codec.hpp), into memory of one's own. A literal is not
// copied: the place in the source has it.
alignas(8) char last[4096];
std::size_t last_size = 0;
template <class... Arguments>
void structure(std::string_view literal, const Arguments&... arguments) {
    char* out = last;
    [[maybe_unused]] silverpoint::detail::Bound room{last + sizeof last};
    ((out = silverpoint::detail::Within<Arguments>::put(room, out, arguments)), ...);
    last_size = static_cast<std::size_t>(out - last);
    __asm__ volatile("" : : "r"(literal.data()));
    keep(last);
}
std::string last_bytes() { return {last, last_size}; }
const auto& map_of() { return inputs.counts; }
const auto& floats_of() { return inputs.samples; }

#else
#    if WAY == BIND_JSON
#        define NAME "silverpoint bind, JSON"
silverpoint::JsonWriter last;
#    else
#        define NAME "silverpoint bind, CBOR"
silverpoint::CborWriter last;
#    endif
template <class... Arguments>
void structure(const Arguments&... arguments) {
    last.clear();
    if (!silverpoint::bind(last, std::tuple<const Arguments&...>(arguments...))) std::abort();
    keep(last.view().data());
}
std::string last_bytes() { return std::string(last.view()); }
const auto& map_of() { return inputs.counts; }
const auto& floats_of() { return inputs.samples; }
#endif

#if WAY == BIND_JSON || WAY == BIND_CBOR
#    define TEXT(literal) std::string_view(literal)
#else
#    define TEXT(literal) literal
#endif
#if WAY >= PACKED || WAY == QDEBUG_TEXT
#    define ID id
#else
#    define ID static_cast<qint64>(id)
#endif

}  // namespace

CASE(literal, structure(TEXT("bench literal")))
CASE(map, (last_id = id, structure(TEXT("bench map"), ID, index, fraction, map_of())))
CASE(floats, structure(TEXT("bench floats"), floats_of()))

static void tell() {
    const char* const file = std::getenv("BENCH_FILE");
    const char* const told = std::getenv("BENCH_TOLD");
    std::FILE* const out = file ? std::fopen(file, "wb") : nullptr;
    std::FILE* const count = told ? std::fopen(told, "w") : nullptr;
    if (!out || !count) {
        std::perror("bench: BENCH_FILE, BENCH_TOLD");
        std::exit(1);
    }
    const std::string bytes = last_bytes();
    std::fwrite(bytes.data(), 1, bytes.size(), out);
    std::fprintf(count, "made=%llu id=%llu\n", static_cast<unsigned long long>(made),
                 static_cast<unsigned long long>(last_id));
    std::fclose(out);
    std::fclose(count);
}

int main(int argc, char** argv) {
    static const bench_case cases[] = {
        {"literal", literal_burst, literal_singles},
        {"map", map_burst, map_singles},
        {"floats", floats_burst, floats_singles},
    };
    const auto nothing = [](std::uint64_t, std::uint64_t) {};
    bench_facility facility{};
    facility.name = NAME;
    facility.cases = cases;
    facility.case_count = sizeof cases / sizeof cases[0];
    facility.empty = nothing;
    facility.disabled = nothing;
    facility.flush = tell;
    return bench_main(argc, argv, &facility);
}
