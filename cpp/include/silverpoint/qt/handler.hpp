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
#include <cstring>

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
    QtSource* next = nullptr;

    QtSource(QtMsgType the_type, const char* file, int line, const char* the_function,
             const char* the_category)
        : site(level_of_qt(the_type), file, static_cast<std::uint32_t>(line < 0 ? 0 : line)),
          type(the_type),
          function(the_function),
          category(the_category) {}
};

struct QtSources {
    static constexpr unsigned kBuckets = 256, kMost = 4096;
    std::atomic<QtSource*> buckets[kBuckets] = {};
    std::atomic<unsigned> count{0};
    std::atomic<QtMessageHandler> previous{nullptr};
    std::atomic<bool> is_installed{false}, records_all{false}, prints_all{false};
};
inline constinit QtSources qt_sources;
// Set while this thread hands a message to Qt that is recorded already.
inline thread_local bool qt_is_recorded = false;

// The source of a message, null pointers being empty texts.
SP_DETAIL_COLD QtSource* find_qt_source(QtMsgType type, const char* file, int line, const char* function,
                                        const char* category) {
    const auto text = [](const char* of) { return of == nullptr ? "" : of; };
    file = text(file), function = text(function), category = text(category);
    QtSources& all = qt_sources;
    if (all.count.load(std::memory_order_relaxed) >= QtSources::kMost)
        file = function = "", line = 0, category = "default";
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
    // Two threads may make one each: they are registered as the same.
    all.count.fetch_add(1, std::memory_order_relaxed);
    auto* made = new QtSource(type, ::strdup(file), line, ::strdup(function), ::strdup(category));
    made->next = head;
    while (!bucket.compare_exchange_weak(made->next, made, std::memory_order_acq_rel)) continue;
    return made;
}

SP_DETAIL_COLD void record_qt_text(Site& site, Kind kind, QStringView text) {
    std::uint64_t head = site.head.load(std::memory_order_relaxed);
    if (head == 0) head = complete_site<WrittenText>(site, kind, {}, "{}");
    if (head != 0) record_captured(head, site, WrittenText{Utf16::of(text)});
}

// What Qt calls.
inline void handle_qt_message(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    QtSources& all = qt_sources;
    bool is_of_others = true;
    if (!qt_is_recorded) {
        QtSource* source =
            find_qt_source(type, context.file, context.line, context.function, context.category);
        const bool is_captured = source->is_captured.load(std::memory_order_relaxed);
        is_of_others = !is_captured && !all.records_all.load(std::memory_order_relaxed);
        if (!is_of_others && source->site.is_on(source->function, source->category))
            record_qt_text(source->site, Kind::kLog, text);
    }
    if (is_of_others || all.prints_all.load(std::memory_order_relaxed)) {
        if (const QtMessageHandler previous = all.previous.load(std::memory_order_relaxed))
            previous(type, context, text);
    }
}

// Makes Qt call the above, once.
inline void ensure_qt_handler() {
    if (qt_sources.is_installed.exchange(true)) return;
    qt_sources.previous.store(qInstallMessageHandler(handle_qt_message));
}

SP_DETAIL_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {
namespace qt {

// Records what Qt hands to message handlers, from now on. `prints` too: the handler of before (without one
// Qt's own, which prints) gets all messages as well, those of streams in this program only if they are echoed
// (echo()).
inline void install_message_handler(bool prints = false) {
    detail::qt_sources.records_all.store(true);
    detail::qt_sources.prints_all.store(prints);
    detail::ensure_qt_handler();
}

// Gives messages back to the handler of before. (Another one that was installed since stays in force.)
inline void remove_message_handler() {
    detail::qt_sources.records_all.store(false);
    detail::qt_sources.prints_all.store(false);
    if (!detail::qt_sources.is_installed.exchange(false)) return;
    const QtMessageHandler now = qInstallMessageHandler(detail::qt_sources.previous.exchange(nullptr));
    if (now != detail::handle_qt_message) qInstallMessageHandler(now);
}

}  // namespace qt
}  // namespace v1
}  // namespace silverpoint
