// Qt's message handler: messages of code that was not compiled with qt/debug.hpp (Qt itself, plug-ins, QML),
// recorded with their context.
//
//   silverpoint::qt::install_message_handler();            records; nothing is printed any more
//   silverpoint::qt::install_message_handler(true);        and prints as before, by QT_MESSAGE_PATTERN
//
// A message is recorded as one text, UTF-16. Each file, line, function, category and type has a site of its
// own. There are at most 4,096 sites; further sources share one for each type. Rules of categories,
// QT_LOGGING_RULES and QT_FATAL_WARNINGS are Qt's own: it checks them before and after the handler is called.
//
// Qt keeps the address of a handler for ever, and so may other handlers. So the shared object that installs
// ours stays loaded (dlclose does not unload it).
#pragma once

#include <QByteArray>
#include <QMessageLogContext>
#include <QString>
#include <QtGlobal>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "../detail/usdt_message.hpp"
#include "look.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {
namespace qt {

// Streams of this program also go to Qt's output: its message handler, or the console by QT_MESSAGE_PATTERN.
// This costs what qDebug() costs. The variable SILVERPOINT_QT_ECHO of the environment sets it from the start.
// The call affects only the shared object in which it stands: a plug-in has a flag of its own.
// Thread-safe: any thread. Cost: an atomic access.
inline std::atomic<bool>& echo_flag() {
    static std::atomic<bool> flag{std::getenv("SILVERPOINT_QT_ECHO") != nullptr};
    return flag;
}
inline void echo(bool on) { echo_flag().store(on, std::memory_order_relaxed); }

}  // namespace qt
}  // namespace v1
}  // namespace silverpoint

SP_DETAIL_BEGIN

// Whether Qt counts the messages of a type down to the one that ends the program. The number is this
// variable's; 1 for an invalid number.
inline bool is_counted_by_qt(const char* variable) {
    const QByteArray value = qgetenv(variable);
    bool is_number = false;
    const int count = value.toInt(&is_number, 0);
    return !value.isEmpty() && (!is_number || count > 0);
}
// Whether Qt must get a message of this type no matter what is recorded: it may end the program.
inline bool is_fatal_in_qt(QtMsgType type) {
    static const bool warnings = is_counted_by_qt("QT_FATAL_WARNINGS");
    static const bool criticals = is_counted_by_qt("QT_FATAL_CRITICALS");
    return type == QtFatalMsg || (type == QtWarningMsg && warnings) ||
           (type == QtCriticalMsg && (criticals || warnings));
}

constexpr Level level_of_qt(QtMsgType type) {
    return type == QtDebugMsg      ? Level::kDebug
           : type == QtInfoMsg     ? Level::kInfo
           : type == QtWarningMsg  ? Level::kWarn
           : type == QtCriticalMsg ? Level::kError
                                   : Level::kFatal;
}

// Sources of messages. Made when the first message arrives, and kept for ever.
struct QtSource {
    Site site;
    QtMsgType type;
    const char* function;
    const char* category;
    // For a stream of this program that was held as a QDebug: recorded no matter which handler is installed.
    std::atomic<bool> is_captured{false};
    // Its messages end the program.
    std::atomic<bool> is_fatal{false};
    QtSource* next = nullptr;

    QtSource(QtMsgType the_type, const char* file, int line, const char* the_function,
             const char* the_category)
        : site(level_of_qt(the_type), file, static_cast<std::uint32_t>(line < 0 ? 0 : line)),
          type(the_type),
          function(the_function),
          category(the_category) {}
};

struct QtSources {
    static constexpr unsigned kBuckets = 256, kMost = 4096, kMostCaptured = 4 * kMost;
    std::atomic<QtSource*> buckets[kBuckets] = {};
    std::atomic<unsigned> count{0};
    std::atomic<bool> records_all{false}, prints_all{false};
};
inline constinit QtSources qt_sources;
// Set while this thread passes a message to Qt that is recorded already.
inline thread_local bool qt_is_recorded = false;

// The source of a message; null pointers are empty texts. Beyond `most` known sources a new one is null.
SP_DETAIL_COLD QtSource* find_qt_source(QtMsgType type, const char* file, int line, const char* function,
                                        const char* category, unsigned most) {
    const auto text = [](const char* of) { return of == nullptr ? "" : of; };
    file = text(file), function = text(function), category = text(category);
    QtSources& all = qt_sources;
    std::size_t hash = 1469598103934665603u ^ static_cast<unsigned>(line) ^ static_cast<unsigned>(type) << 24;
    for (const char* part : {file, function, category})
        for (; *part != 0; ++part) hash = (hash ^ static_cast<unsigned char>(*part)) * 1099511628211u;
    std::atomic<QtSource*>& bucket = all.buckets[(hash >> 32) % QtSources::kBuckets];
    QtSource* head = bucket.load(std::memory_order_acquire);
    for (QtSource* one = head; one != nullptr; one = one->next) {
        if (one->type == type && one->site.line == static_cast<std::uint32_t>(line < 0 ? 0 : line) &&
            std::strcmp(one->site.file, file) == 0 && std::strcmp(one->function, function) == 0 &&
            std::strcmp(one->category, category) == 0)
            return one;
    }
    if (all.count.load(std::memory_order_relaxed) >= most) return nullptr;
    // Two threads may each make one: both are registered as the same site.
    all.count.fetch_add(1, std::memory_order_relaxed);
    auto* made = new QtSource(type, ::strdup(file), line, ::strdup(function), ::strdup(category));
    made->next = head;
    while (!bucket.compare_exchange_weak(made->next, made, std::memory_order_acq_rel)) continue;
    return made;
}
// Its own source, or the one that all without their own share.
SP_DETAIL_COLD QtSource* qt_source_of(QtMsgType type, const QMessageLogContext& context) {
    QtSource* own = find_qt_source(type, context.file, context.line, context.function, context.category,
                                   QtSources::kMost);
    return own != nullptr ? own : find_qt_source(type, "", 0, "", "default", ~0u);
}
// Messages from here are of this program's own streams. (Beyond the limit they are like those of others: the
// shared source must not match messages that are not ours.)
SP_DETAIL_COLD void capture_qt_source(QtMsgType type, const char* file, int line, const char* function,
                                      const char* category) {
    const bool is_fatal = type == QtFatalMsg;
#if QT_VERSION < QT_VERSION_CHECK(6, 5, 0)
    // There it is held as a critical one.
    if (is_fatal) type = QtCriticalMsg;
#endif
    if (QtSource* own = find_qt_source(type, file, line, function, category, QtSources::kMostCaptured)) {
        own->is_captured.store(true, std::memory_order_relaxed);
        own->is_fatal.store(is_fatal, std::memory_order_relaxed);
    }
}

SP_DETAIL_COLD void record_qt_text(Site& site, Kind kind, QStringView text) {
    std::uint64_t head = site.head.load(std::memory_order_relaxed);
    if (is_no_head(head)) head = complete_site<WrittenText>(site, kind, {}, "{}");
    if (head != 0) record_completed(head, site, WrittenText{Utf16::of(text)});
}

// The USDT probe of a message; only where usdt_wants_messages().
SP_DETAIL_COLD void trace_qt_message(QtMsgType type, const char* category, const QString& text,
                                     const char* file, std::uint32_t line) {
    const QByteArray bytes = text.toUtf8();
    usdt_message(level_of_qt(type), category, {bytes.constData(), static_cast<std::size_t>(bytes.size())},
                 file, line);
}

// What happens to a message when the first of our handlers gets it.
struct QtFate {
    bool goes_on = true;
    bool ends = false;
};
SP_DETAIL_COLD QtFate take_qt_message(QtMsgType type, const QMessageLogContext& context,
                                      const QString& text) {
    if (qt_is_recorded) return {};
    QtSource* source = qt_source_of(type, context);
    const bool is_captured = source->is_captured.load(std::memory_order_relaxed);
    const bool records_all = qt_sources.records_all.load(std::memory_order_relaxed);
    if ((is_captured || records_all) && usdt_wants_messages()) [[unlikely]]
        trace_qt_message(source->is_fatal.load(std::memory_order_relaxed) ? QtFatalMsg : type,
                         source->category, text, source->site.file, source->site.line);
    if ((is_captured || records_all) && source->site.is_wanted(source->function, source->category))
        record_qt_text(source->site, Kind::kLog, text);
    if (is_captured) {
        // Like statements: Qt gets them if that is requested, or if it counts them.
        const bool ends = source->is_fatal.load(std::memory_order_relaxed);
        return {ends || qt::echo_flag().load(std::memory_order_relaxed) || is_fatal_in_qt(type), ends};
    }
    return {!records_all || qt_sources.prints_all.load(std::memory_order_relaxed)};
}

// --- The chain of handlers
//
// Others install their handlers before and after ours. They may pass messages on to the handler that they
// replaced, and they put back what was there. So ours is several functions, each with the one handler that it
// passes messages on to. Whenever another handler was installed on top, a further function of ours is put
// above it. A program that puts back the handler that it found so restores the chain that it found. The first
// function of ours that gets a message handles it.
struct QtChain {
    static constexpr unsigned kMost = 8;
    // The next handler behind each of ours. Never taken back: a program that was given one of ours may call
    // it for ever.
    std::atomic<QtMessageHandler> next[kMost] = {};
    std::atomic<unsigned> count{0};
    std::atomic<unsigned> top{0};  // the one that we installed last
    std::atomic<bool> is_linking{false};
    std::mutex lock;  // of changes
};
inline constinit QtChain qt_chain;
// Those of our functions that this thread is in, one bit for each.
inline thread_local unsigned qt_handlers_entered = 0;

inline void pass_qt_message(unsigned number, QtMsgType type, const QMessageLogContext& context,
                            const QString& text) {
    QtChain& chain = qt_chain;
    const bool is_first = qt_handlers_entered == 0;
    if (is_first && chain.is_linking.load(std::memory_order_acquire)) {
        // Ours is active for a moment before the previous handler is known.
        for (int i = 0; i < 100'000 && chain.is_linking.load(std::memory_order_acquire); ++i)
            pause_processor();
        number = chain.top.load(std::memory_order_acquire);
    }
    const QtFate fate = is_first ? take_qt_message(type, context, text) : QtFate();
    // A handler calls us although we come before it: pass the message on to the previous one.
    while (number > 0 && (qt_handlers_entered >> number & 1) != 0) --number;
    if (fate.goes_on && (qt_handlers_entered >> number & 1) == 0) {
        struct Entered {
            const unsigned before = qt_handlers_entered;
            ~Entered() { qt_handlers_entered = before; }
        } const entered;
        qt_handlers_entered |= 1u << number;
        if (const QtMessageHandler next = chain.next[number].load(std::memory_order_acquire))
            next(fate.ends ? QtFatalMsg : type, context, text);
    }
    if (fate.ends) std::abort();
}

// The function that Qt calls.
template <unsigned kNumber>
void handle_qt_message(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    pass_qt_message(kNumber, type, context, text);
}
template <unsigned... kNumbers>
constexpr std::array<QtMessageHandler, sizeof...(kNumbers)> make_qt_handlers(
    std::integer_sequence<unsigned, kNumbers...>) {
    return {handle_qt_message<kNumbers>...};
}
inline constexpr auto kQtHandlers = make_qt_handlers(std::make_integer_sequence<unsigned, QtChain::kMost>());

// The number of one of our functions; kMost for other handlers.
inline unsigned number_of_qt_handler(QtMessageHandler handler) {
    unsigned number = 0;
    while (number < QtChain::kMost && kQtHandlers[number] != handler) ++number;
    return number;
}

// Keeps the object loaded that contains this code.
inline void stay_loaded() { keep_loaded(reinterpret_cast<const void*>(kQtHandlers[0])); }

// Puts ours on top, if it is not there. (From the ninth other handler on, it replaces the eighth.)
inline void link_qt_handler() {
    QtChain& chain = qt_chain;
    const std::lock_guard guard(chain.lock);
    const unsigned count = chain.count.load(std::memory_order_relaxed);
    if (count == 0) stay_loaded();
    unsigned top = chain.top.load(std::memory_order_relaxed);
    chain.is_linking.store(true, std::memory_order_release);
    const QtMessageHandler before = qInstallMessageHandler(kQtHandlers[top]);
    const unsigned found = number_of_qt_handler(before);
    if (found < QtChain::kMost && found < count) {
        top = found;  // another handler was put back
    } else {
        top = 0;
        while (top < count && chain.next[top].load(std::memory_order_relaxed) != before) ++top;
        if (top == count && count < QtChain::kMost) chain.count.store(count + 1, std::memory_order_release);
        if (top == QtChain::kMost) --top;
        chain.next[top].store(before, std::memory_order_release);
    }
    if (before != kQtHandlers[top] || top != chain.top.load(std::memory_order_relaxed))
        qInstallMessageHandler(kQtHandlers[top]);
    chain.top.store(top, std::memory_order_release);
    chain.is_linking.store(false, std::memory_order_release);
}

// Removes ours from the top, if it is there.
inline void unlink_qt_handler() {
    QtChain& chain = qt_chain;
    const std::lock_guard guard(chain.lock);
    if (chain.count.load(std::memory_order_relaxed) == 0) return;
    chain.is_linking.store(true, std::memory_order_release);
    const unsigned top = chain.top.load(std::memory_order_relaxed);
    const QtMessageHandler before = qInstallMessageHandler(kQtHandlers[top]);
    const unsigned found = number_of_qt_handler(before);
    qInstallMessageHandler(found < QtChain::kMost ? chain.next[found].load(std::memory_order_relaxed)
                                                  : before);
    chain.is_linking.store(false, std::memory_order_release);
}

SP_DETAIL_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {
namespace qt {

// Records what Qt passes to message handlers, from now on. `prints`: the previous handler also gets all
// messages (Qt's own, which prints, if there was none). It gets messages of streams in this program only if
// they are echoed (echo()). Ours is then the first, no matter what was installed meanwhile.
// Thread-safe: any thread. Cost: a lock. Then a message costs a look-up of its source, and a record with its
// text.
inline void install_message_handler(bool prints = false) {
    detail::qt_sources.records_all.store(true);
    detail::qt_sources.prints_all.store(prints);
    detail::link_qt_handler();
}

// Passes messages to the previous handler again. If another one was installed since, it stays; what it passes
// on to ours goes to the previous one.
// Thread-safe: any thread. Cost: a lock.
inline void remove_message_handler() {
    detail::qt_sources.records_all.store(false);
    detail::qt_sources.prints_all.store(false);
    detail::unlink_qt_handler();
}

}  // namespace qt
}  // namespace v1
}  // namespace silverpoint
