// Qt's message handler: what is sent to it by code that was not compiled with qt/debug.hpp (Qt itself,
// plug-ins, QML), recorded with its context.
//
//   silverpoint::qt::install_message_handler();            records; nothing is printed any more
//   silverpoint::qt::install_message_handler(true);        and prints as before, by QT_MESSAGE_PATTERN
//
// A message is recorded as one text, UTF-16, by a site of its own for each file, line, function, category and
// type; 4,096 of them, further ones share one for each type. Rules of categories, QT_LOGGING_RULES and
// QT_FATAL_WARNINGS are Qt's own: it asks them before and after the handler is called.
#pragma once

#include <QByteArray>
#include <QMessageLogContext>
#include <QString>
#include <QtGlobal>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "look.hpp"

SP_DETAIL_BEGIN

constexpr Level level_of_qt(QtMsgType type) {
    return type == QtDebugMsg      ? Level::kDebug
           : type == QtInfoMsg     ? Level::kInfo
           : type == QtWarningMsg  ? Level::kWarn
           : type == QtCriticalMsg ? Level::kError
                                   : Level::kFatal;
}

// Where messages come from. Made when the first arrives, and kept for ever.
struct QtSource {
    Site site;
    QtMsgType type;
    const char* function;
    const char* category;
    // Of a stream of this program that was held as a QDebug: recorded whoever handles messages.
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
    static constexpr unsigned kBuckets = 256, kMost = 4096, kMostCaptured = 4 * kMost, kLinks = 8;
    std::atomic<QtSource*> buckets[kBuckets] = {};
    std::atomic<unsigned> count{0};
    // The handlers before ours, the last one in force; never taken back, since whoever was given ours by
    // qInstallMessageHandler may call it for ever. When ours was put before one that calls it, the call
    // comes back to us, and goes on to the handler of the time before.
    std::atomic<QtMessageHandler> links[kLinks] = {};
    std::atomic<unsigned> link_count{0};
    std::atomic<bool> is_installed{false}, is_linking{false}, records_all{false}, prints_all{false};
    std::mutex lock;  // of changes of the links
};
inline constinit QtSources qt_sources;
// Set while this thread hands a message to Qt that is recorded already.
inline thread_local bool qt_is_recorded = false;
// How many calls of our handler this thread is in.
inline thread_local unsigned qt_handler_depth = 0;

// The source of a message, null pointers being empty texts; beyond `most` known ones a new one is null.
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
    // Two threads may make one each: they are registered as the same.
    all.count.fetch_add(1, std::memory_order_relaxed);
    auto* made = new QtSource(type, ::strdup(file), line, ::strdup(function), ::strdup(category));
    made->next = head;
    while (!bucket.compare_exchange_weak(made->next, made, std::memory_order_acq_rel)) continue;
    return made;
}
// Its own, or the one that all without their own share.
SP_DETAIL_COLD QtSource* qt_source_of(QtMsgType type, const QMessageLogContext& context) {
    QtSource* own = find_qt_source(type, context.file, context.line, context.function, context.category,
                                   QtSources::kMost);
    return own != nullptr ? own : find_qt_source(type, "", 0, "", "default", ~0u);
}
// Messages from here are of this program's own streams. (Beyond the most they are as those of others: the
// source that is shared must not catch what is not ours.)
SP_DETAIL_COLD void capture_qt_source(QtMsgType type, const char* file, int line, const char* function,
                                      const char* category, bool records) {
    const bool is_fatal = type == QtFatalMsg;
#if QT_VERSION < QT_VERSION_CHECK(6, 5, 0)
    // There it is held as a critical one.
    if (is_fatal) type = QtCriticalMsg;
#endif
    if (QtSource* own = find_qt_source(type, file, line, function, category, QtSources::kMostCaptured)) {
        own->is_captured.store(records, std::memory_order_relaxed);
        own->is_fatal.store(is_fatal, std::memory_order_relaxed);
    }
}

SP_DETAIL_COLD void record_qt_text(Site& site, Kind kind, QStringView text) {
    std::uint64_t head = site.head.load(std::memory_order_relaxed);
    if (head == 0) head = complete_site<WrittenText>(site, kind, {}, "{}");
    if (head != 0) record_captured(head, site, WrittenText{Utf16::of(text)});
}

// The handler that comes after ours, at this depth of calls; null if there is none.
inline QtMessageHandler next_qt_handler(unsigned depth) {
    QtSources& all = qt_sources;
    // Ours is in force a moment before it is known what was.
    for (int i = 0; i < 100'000 && all.is_linking.load(std::memory_order_acquire); ++i) pause_processor();
    const unsigned count = all.link_count.load(std::memory_order_acquire);
    return depth <= count && depth > 0 ? all.links[count - depth].load(std::memory_order_relaxed) : nullptr;
}

// What Qt calls.
inline void handle_qt_message(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    QtSources& all = qt_sources;
    struct Depth {
        const unsigned now = ++qt_handler_depth;
        ~Depth() { --qt_handler_depth; }
    } const depth;
    bool goes_on = true, ends = false;
    // (What comes back to us has been looked at.)
    if (depth.now == 1) {
        bool is_ours = qt_is_recorded;
        if (!is_ours) {
            QtSource* source = qt_source_of(type, context);
            is_ours = source->is_captured.load(std::memory_order_relaxed) ||
                      all.records_all.load(std::memory_order_relaxed);
            if (is_ours && source->site.is_on(source->function, source->category))
                record_qt_text(source->site, Kind::kLog, text);
            ends = source->is_fatal.load(std::memory_order_relaxed);
            goes_on = !is_ours || ends || all.prints_all.load(std::memory_order_relaxed);
        }
    }
    if (goes_on)
        if (const QtMessageHandler next = next_qt_handler(depth.now))
            next(ends ? QtFatalMsg : type, context, text);
    if (ends) std::abort();
}

// Makes Qt call the above. Under the lock.
inline void link_qt_handler() {
    QtSources& all = qt_sources;
    all.is_linking.store(true, std::memory_order_release);
    const QtMessageHandler before = qInstallMessageHandler(handle_qt_message);
    const unsigned count = all.link_count.load(std::memory_order_relaxed);
    const bool is_known = before == handle_qt_message ||
                          (count > 0 && all.links[count - 1].load(std::memory_order_relaxed) == before);
    if (!is_known) {
        const unsigned at = count < QtSources::kLinks ? count : QtSources::kLinks - 1;
        all.links[at].store(before, std::memory_order_relaxed);
        all.link_count.store(at + 1, std::memory_order_release);
    }
    all.is_linking.store(false, std::memory_order_release);
    all.is_installed.store(true, std::memory_order_release);
}
inline void ensure_qt_handler() {
    if (qt_sources.is_installed.load(std::memory_order_acquire)) return;
    const std::lock_guard guard(qt_sources.lock);
    if (!qt_sources.is_installed.load(std::memory_order_relaxed)) link_qt_handler();
}

SP_DETAIL_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {
namespace qt {

// Records what Qt hands to message handlers, from now on. `prints` too: the handler of before (without one
// Qt's own, which prints) gets all messages as well, those of streams in this program only if they are echoed
// (echo()). Ours is the first then, whatever was installed meanwhile.
inline void install_message_handler(bool prints = false) {
    const std::lock_guard guard(detail::qt_sources.lock);
    detail::qt_sources.records_all.store(true);
    detail::qt_sources.prints_all.store(prints);
    detail::link_qt_handler();
}

// Gives messages back to the handler of before. Another one that was installed since stays in force, and what
// it passes on to ours goes to the one of before.
inline void remove_message_handler() {
    const std::lock_guard guard(detail::qt_sources.lock);
    detail::QtSources& all = detail::qt_sources;
    all.records_all.store(false);
    all.prints_all.store(false);
    if (!all.is_installed.exchange(false)) return;
    const unsigned count = all.link_count.load();
    const QtMessageHandler now = qInstallMessageHandler(count == 0 ? nullptr : all.links[count - 1].load());
    if (now != detail::handle_qt_message) {
        qInstallMessageHandler(now);
    } else if (count > 1) {
        all.link_count.store(count - 1);
    }
}

}  // namespace qt
}  // namespace v1
}  // namespace silverpoint
