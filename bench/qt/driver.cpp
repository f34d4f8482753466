// The facilities that a Qt program has without Silverpoint, as the source of table S1 set them up. These are
// qDebug into a file with its context and to a terminal, and structured lines through Qt's own JSON and CBOR
// classes. Then the same qDebug statements with silverpoint/qt/debug.hpp included before: they are records
// (docs/qt.md).
//
// One program a facility, compiled with -DFACILITY=…; the environment's BENCH_FILE is where it writes.
// Members of the structured ones are those of a record: path, line, function, category, level, and the
// arguments.
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <QCborStreamWriter>
#include <QDebug>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLoggingCategory>
#include <QMap>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "../cpp/case.hpp"
#include "../harness/harness.h"

#define QDEBUG_FILE 1
#define QDEBUG_CONSOLE 2
#define QT_JSON 3
#define QT_CBOR 4
#define QDEBUG_RECORDED 5

#if FACILITY == QDEBUG_RECORDED
#    include <silverpoint/qt/debug.hpp>
#endif

namespace {

struct Inputs {
    QList<float> samples;
    QMap<QString, int> counts{{"alpha", 1}, {"beta", 20}, {"gamma", 300}};
    Inputs() {
        for (int i = 0; i < 128; ++i) samples.append(0.25F * static_cast<float>(i));
    }
};
const Inputs inputs;

// Buffered, for speed.
[[maybe_unused]] FILE* out = nullptr;

[[maybe_unused]] void open_file() {
    const char* path = std::getenv("BENCH_FILE");
    out = path ? std::fopen(path, "wb") : nullptr;
    if (!out) {
        std::perror("bench: BENCH_FILE");
        std::exit(1);
    }
}

}  // namespace

Q_LOGGING_CATEGORY(bench, "bench")

#if FACILITY == QDEBUG_FILE
#    define NAME "qdebug, to a file"

static void handler(QtMsgType type, const QMessageLogContext& context, const QString& message) {
    const QByteArray line = qFormatLogMessage(type, context, message).toUtf8();
    std::fwrite(line.constData(), 1, static_cast<std::size_t>(line.size()), out);
    std::fputc('\n', out);
}

static void begin() {
    open_file();
    qSetMessagePattern("%{time process} %{type} %{category} %{file}:%{line} %{function} %{message}");
    qInstallMessageHandler(handler);
}
static void flush() { std::fflush(out); }

#elif FACILITY == QDEBUG_RECORDED
#    define NAME "qdebug, recorded"

static void begin() {}

#elif FACILITY == QDEBUG_CONSOLE
#    define NAME "qdebug, to a terminal"

static pid_t reader = -1;
static int window = -1;

// Standard error becomes a terminal; another process reads what comes out of it, as a terminal's window does.
static void begin() {
    int terminal = -1;
    termios raw{};
    cfmakeraw(&raw);
    if (openpty(&window, &terminal, nullptr, &raw, nullptr) != 0) {
        std::perror("bench: no terminal");
        std::exit(1);
    }
    reader = fork();
    if (reader == 0) {
        close(terminal);
        open_file();
        static char bytes[1 << 16];
        for (ssize_t n = 0; (n = read(window, bytes, sizeof bytes)) > 0;)
            std::fwrite(bytes, 1, static_cast<std::size_t>(n), out);
        std::fclose(out);
        _exit(0);
    }
    dup2(terminal, STDERR_FILENO);
    close(terminal);
    qputenv("QT_FORCE_STDERR_LOGGING", "1");
}
// Everything has come out of the terminal.
static void flush() {
    for (int waiting = 0; ioctl(window, FIONREAD, &waiting) == 0 && waiting > 0;) usleep(100);
}
// The reader of the terminal is part of its cost.
static int observe(bench_observation* seen) {
    *seen = {};
    clockid_t clock;
    timespec used{};
    if (clock_getcpuclockid(reader, &clock) != 0 || clock_gettime(clock, &used) != 0) return -1;
    seen->helper_cpu_ns =
        static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(used.tv_nsec);
    return 0;
}
// The reader ends with the last of what was written, and its file is whole then.
static void end() {
    close(STDERR_FILENO);
    waitpid(reader, nullptr, 0);
}

#elif FACILITY == QT_JSON
#    define NAME "QJsonObject, to a file"

static void begin() { open_file(); }
static void flush() { std::fflush(out); }

static void json(const char* path, int line, const char* function, const QJsonArray& args) {
    const QJsonObject record{{"path", path},        {"line", line},     {"function", function},
                             {"category", "bench"}, {"level", "debug"}, {"args", args}};
    const QByteArray text = QJsonDocument(record).toJson(QJsonDocument::Compact);
    std::fwrite(text.constData(), 1, static_cast<std::size_t>(text.size()), out);
    std::fputc('\n', out);
}

static QJsonObject object(const QMap<QString, int>& map) {
    QJsonObject found;
    for (auto at = map.begin(); at != map.end(); ++at) found.insert(at.key(), at.value());
    return found;
}

static QJsonArray array(const QList<float>& list) {
    QJsonArray found;
    for (const float one : list) found.append(static_cast<double>(one));
    return found;
}

#elif FACILITY == QT_CBOR
#    define NAME "QCborStreamWriter, to a file"

static void begin() { open_file(); }
static void flush() { std::fflush(out); }

static void put(QCborStreamWriter& to, const char* text) { to.append(QLatin1String(text)); }
static void put(QCborStreamWriter& to, std::uint64_t number) { to.append(static_cast<quint64>(number)); }
static void put(QCborStreamWriter& to, std::int32_t number) { to.append(static_cast<qint64>(number)); }
static void put(QCborStreamWriter& to, double number) { to.append(number); }
static void put(QCborStreamWriter& to, const QMap<QString, int>& map) {
    to.startMap(static_cast<quint64>(map.size()));
    for (auto at = map.begin(); at != map.end(); ++at) {
        to.append(QStringView(at.key()));
        to.append(at.value());
    }
    to.endMap();
}
static void put(QCborStreamWriter& to, const QList<float>& list) {
    to.startArray(static_cast<quint64>(list.size()));
    for (const float one : list) to.append(one);
    to.endArray();
}

template <typename... Args>
static void cbor(const char* path, int line, const char* function, const Args&... args) {
    static thread_local QByteArray bytes;
    bytes.clear();
    QCborStreamWriter to(&bytes);
    to.startMap(6);
    put(to, "path"), put(to, path), put(to, "line"), put(to, line), put(to, "function"), put(to, function);
    put(to, "category"), put(to, "bench"), put(to, "level"), put(to, "debug"), put(to, "args");
    to.startArray(sizeof...(args));
    (put(to, args), ...);
    to.endArray();
    to.endMap();
    std::fwrite(bytes.constData(), 1, static_cast<std::size_t>(bytes.size()), out);
}
#endif

#if FACILITY == QDEBUG_FILE || FACILITY == QDEBUG_CONSOLE || FACILITY == QDEBUG_RECORDED
CASE(literal, qCDebug(bench) << "bench literal")
CASE(map, qCDebug(bench) << "bench map" << id << index << fraction << inputs.counts)
CASE(floats, qCDebug(bench) << "bench floats" << inputs.samples)
#elif FACILITY == QT_JSON
CASE(literal, json(__FILE__, __LINE__, __func__, {"bench literal"}))
CASE(map, json(__FILE__, __LINE__, __func__,
               {"bench map", static_cast<qint64>(id), index, fraction, object(inputs.counts)}))
CASE(floats, json(__FILE__, __LINE__, __func__, {"bench floats", array(inputs.samples)}))
#else
CASE(literal, cbor(__FILE__, __LINE__, __func__, "bench literal"))
CASE(map, cbor(__FILE__, __LINE__, __func__, "bench map", id, index, fraction, inputs.counts))
CASE(floats, cbor(__FILE__, __LINE__, __func__, "bench floats", inputs.samples))
#endif

int main(int argc, char** argv) {
    static const bench_case cases[] = {
        {"literal", literal_burst, literal_singles},
        {"map", map_burst, map_singles},
        {"floats", floats_burst, floats_singles},
    };
    const auto nothing = [](std::uint64_t, std::uint64_t) {};
    begin();
    bench_facility facility{};
    facility.name = NAME;
    facility.cases = cases;
    facility.case_count = sizeof cases / sizeof cases[0];
    facility.empty = nothing;
    facility.disabled = nothing;
#if FACILITY == QDEBUG_RECORDED
    facility.prepare_thread = [] { silverpoint::prepare_thread(); };
    facility.observe = bench_observe_session;
#else
    facility.flush = flush;
#endif
#if FACILITY == QDEBUG_CONSOLE
    facility.observe = observe;
    const int status = bench_main(argc, argv, &facility);
    end();
    return status;
#else
    return bench_main(argc, argv, &facility);
#endif
}
