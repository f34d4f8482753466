// What the macros of qt/debug.hpp begin, and where it ends: records the pieces, or becomes a QDebug when one
// is wanted (`QDebug d = qDebug();`, a function that takes one).
#pragma once

#include <cstdarg>
#include <cstdlib>

#include "percent.hpp"
#include "stream.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {
namespace qt {

// Streams of this program go to Qt's output, too: its message handler, or the console by QT_MESSAGE_PATTERN.
// It costs what qDebug() costs. Set from the start by the variable SILVERPOINT_QT_ECHO of the environment.
inline std::atomic<bool>& echo_flag() {
    static std::atomic<bool> flag{std::getenv("SILVERPOINT_QT_ECHO") != nullptr};
    return flag;
}
inline void echo(bool on) { echo_flag().store(on, std::memory_order_relaxed); }

}  // namespace qt
}  // namespace v1
}  // namespace silverpoint

SP_DETAIL_BEGIN

// Whether Qt must see a message of this type whatever is recorded: it may end the program.
inline bool is_fatal_in_qt(QtMsgType type) {
    static const bool warnings = std::getenv("QT_FATAL_WARNINGS") != nullptr;
    static const bool criticals = std::getenv("QT_FATAL_CRITICALS") != nullptr;
    return type == QtFatalMsg || (type == QtWarningMsg && warnings) ||
           (type == QtCriticalMsg && (criticals || warnings));
}

// Where a line stands, and what becomes of it.
struct QtHead {
    QtPlace* place = nullptr;  // null: nothing becomes of it
    const char* function = nullptr;
    const char* category = nullptr;
    bool records = false, goes_to_qt = false;

    // `category` null: none was named.
    SP_DETAIL_HOT static QtHead of(QtPlace& place, const char* function, const QLoggingCategory* named) {
        const QLoggingCategory* category = named != nullptr ? named : QLoggingCategory::defaultCategory();
        if (category != nullptr && !category->isEnabled(place.type)) return {};
        const char* name = category == nullptr ? "default" : category->categoryName();
        // The first category is the site's for ever, and may not live so long.
        Site& site = place.site.site;
        const std::uint8_t state = site.state_byte();
        const bool records =
            state == 1 || (state != 0 && site.is_on_otherwise(state, function, kept(site, name)));
        const bool goes = qt::echo_flag().load(std::memory_order_relaxed) || is_fatal_in_qt(place.type);
        if (!records && !goes) return {};
        return {&place, function, name, records, goes};
    }
    static const char* kept(const Site& site, const char* name) {
        const char* known = site.category.load(std::memory_order_relaxed);
        if (known != nullptr && __builtin_strcmp(known, name) == 0) return known;
        return ::strdup(name);
    }
    QMessageLogger logger() const {
        return {place->site.site.file, static_cast<int>(place->site.site.line), function, category};
    }
    // To Qt's output; the record is made already.
    SP_DETAIL_COLD void send(const QString& text) const {
        qt_is_recorded = true;
        switch (place->type) {
            case QtFatalMsg:
                logger().fatal("%s", text.toUtf8().constData());
            case QtCriticalMsg:
                logger().critical().noquote().nospace() << text;
                break;
            case QtWarningMsg:
                logger().warning().noquote().nospace() << text;
                break;
            case QtInfoMsg:
                logger().info().noquote().nospace() << text;
                break;
            case QtDebugMsg:
                logger().debug().noquote().nospace() << text;
                break;
        }
        qt_is_recorded = false;
    }
    // A stream of Qt's own, whose message comes back to the handler.
    SP_DETAIL_COLD QDebug real() const {
        if (place == nullptr) {
            static thread_local QString nowhere;
            nowhere.clear();
            return QDebug(&nowhere);
        }
        ensure_qt_handler();
        find_qt_source(place->type, place->site.site.file, static_cast<int>(place->site.site.line), function,
                       category)
            ->is_captured.store(records, std::memory_order_relaxed);
        switch (place->type) {
            case QtInfoMsg:
                return logger().info();
            case QtWarningMsg:
                return logger().warning();
            case QtCriticalMsg:
            case QtFatalMsg:
                return logger().critical();
            case QtDebugMsg:
                break;
        }
        return logger().debug();
    }
};

// A line as far as it is written: records when it ends.
template <class Pieces, bool kSpace, bool kQuote>
class QtLine {
  public:
    QtLine(const QtHead& head, const Pieces& pieces) : head_(head), pieces_(pieces) {}
    QtLine(const QtLine&) = delete;
    QtLine& operator=(const QtLine&) = delete;
    SP_DETAIL_HOT ~QtLine() {
        if (held_ != nullptr) {
            delete held_;
        } else if (head_.place != nullptr) {
            with_qt_pieces(
                pieces_, [this](const auto&... pieces)
                             __attribute__((always_inline)) { this->finish(pieces...); });
        }
    }

    // --- In one statement: the type of the next line tells what has been written.

    template <std::size_t N>
    SP_DETAIL_HOT auto operator<<(const char (&text)[N]) && {
        return next<kSpace, kQuote>(QtLiteral<N, kSpace>{text});
    }
    // What may change is no literal.
    template <std::size_t N>
    SP_DETAIL_HOT auto operator<<(char (&text)[N]) && {
        return next<kSpace, kQuote>(QtValue<const char*, kSpace, kQuote>{text});
    }
    template <class T>
    SP_DETAIL_HOT auto operator<<(const T& value) && {
        if constexpr (std::is_function_v<T>) {
            return next<kSpace, kQuote>(QtManipulator<T*>{&value});
        } else if constexpr (std::same_as<T, QTextStreamManipulator> ||
                             std::same_as<T, QTextStreamFunction>) {
            return next<kSpace, kQuote>(QtManipulator<T>{value});
        } else {
            return next<kSpace, kQuote>(QtValue<T, kSpace, kQuote>{value});
        }
    }
    auto space() && { return next<true, kQuote>(QtSpace{}); }
    auto nospace() && { return next<false, kQuote>(QtSpaces<false>{}); }
    auto quote() && { return next<kSpace, true>(QtQuotes<true>{}); }
    auto noquote() && { return next<kSpace, false>(QtQuotes<false>{}); }
    auto maybeSpace() && {
        if constexpr (kSpace) {
            return next<kSpace, kQuote>(QtSpace{});
        } else {
            return next<kSpace, kQuote>(QtSpaces<false>{});
        }
    }
    auto verbosity(int level) && { return next<kSpace, kQuote>(QtVerbosity{level}); }
    auto resetFormat() && { return next<true, true>(QtReset{}); }

    // --- Held in a variable: a QDebug from then on.

    template <class T>
    QDebug& operator<<(const T& value) & {
        return real() << value;
    }
    QDebug& space() & { return real().space(); }
    QDebug& nospace() & { return real().nospace(); }
    QDebug& quote() & { return real().quote(); }
    QDebug& noquote() & { return real().noquote(); }
    QDebug& maybeSpace() & { return real().maybeSpace(); }
    QDebug& verbosity(int level) & { return real().verbosity(level); }
    QDebug& resetFormat() & { return real().resetFormat(); }
    operator QDebug() & { return real(); }
    operator QDebug() && {
        QDebug made = head_.real();
        replay(made);
        head_.place = nullptr;
        return made;
    }

  private:
    template <bool kSpaceNext, bool kQuoteNext, class Piece>
    SP_DETAIL_HOT auto next(const Piece& piece) {
        using All = QtPieces<Pieces, Piece>;
        const QtHead head = head_;
        head_.place = nullptr;
        return QtLine<All, kSpaceNext, kQuoteNext>(head, All{pieces_, piece});
    }
    void replay([[maybe_unused]] QDebug& out) const {
        with_qt_pieces(pieces_,
                       [&]([[maybe_unused]] const auto&... pieces) { (write_qt(out, pieces), ...); });
    }
    QDebug& real() {
        if (held_ == nullptr) {
            held_ = new QDebug(head_.real());
            replay(*held_);
        }
        return *held_;
    }
    template <class... P>
    SP_DETAIL_HOT void finish(const P&... pieces) const {
        constexpr QtWay kWay = qt_way<P...>();
        if constexpr (kWay == QtWay::kTyped) {
            if (head_.records) record_qt_typed(head_.place->site, pieces...);
            if (head_.goes_to_qt) [[unlikely]]
                head_.send(QtWritten<P...>(pieces...).all);
        } else {
            const QtWritten<P...> written(pieces...);
            if (head_.records) record_qt_written<kWay>(head_.place->site, written, pieces...);
            if (head_.goes_to_qt) [[unlikely]]
                head_.send(written.all);
        }
    }

    QtHead head_;
    QDebug* held_ = nullptr;
    [[no_unique_address]] Pieces pieces_;
};

// What the macros call a member of. The names are those of the forms that Qt has.
struct QtStart {
    QtPlace* place;
    const char* function;
    QtStart(QtPlace* the_place, const char* the_function) : place(the_place), function(the_function) {}
    using Line = QtLine<Nothing, true, true>;
    using CategoryFunction = const QLoggingCategory& (*)();

    SP_DETAIL_HOT Line message() const { return line(nullptr); }
    SP_DETAIL_HOT Line message(const QLoggingCategory& category) const { return line(&category); }
    SP_DETAIL_HOT Line message(CategoryFunction category) const { return line(&category()); }

    template <class... Ts>
    SP_DETAIL_HOT void message(const char* text, const Ts&... args) const {
        formatted(nullptr, text, args...);
    }
    template <class... Ts>
    SP_DETAIL_HOT void message(const QLoggingCategory& category, const char* text, const Ts&... args) const {
        formatted(&category, text, args...);
    }
    template <class... Ts>
    SP_DETAIL_HOT void message(CategoryFunction category, const char* text, const Ts&... args) const {
        formatted(&category(), text, args...);
    }
    template <class... Ts>
    [[noreturn]] void fatal(const char* text, const Ts&... args) const {
        formatted(nullptr, text, args...);
        std::abort();
    }

  private:
    SP_DETAIL_HOT Line line(const QLoggingCategory* category) const {
        return {QtHead::of(*place, function, category), {}};
    }
    template <class... Ts>
    SP_DETAIL_HOT void formatted(const QLoggingCategory* category, const char* text,
                                 const Ts&... args) const {
        const QtHead head = QtHead::of(*place, function, category);
        if (head.place == nullptr) return;
        if (head.records) record_qt_percent(place->site, text, args...);
        if (head.goes_to_qt) [[unlikely]]
            head.send(format_qt(text, pass_qt(args)...));
    }
};

SP_DETAIL_END
