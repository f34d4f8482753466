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

// Whether Qt counts the messages of a type down to the one that ends the program: by the number of this
// variable, 1 for what is no number.
inline bool is_counted_by_qt(const char* variable) {
    const QByteArray value = qgetenv(variable);
    bool is_number = false;
    const int count = value.toInt(&is_number, 0);
    return !value.isEmpty() && (!is_number || count > 0);
}
// Whether Qt must see a message of this type whatever is recorded: it may end the program.
inline bool is_fatal_in_qt(QtMsgType type) {
    static const bool warnings = is_counted_by_qt("QT_FATAL_WARNINGS");
    static const bool criticals = is_counted_by_qt("QT_FATAL_CRITICALS");
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
            state == 1 || (state != 0 && site.is_on_otherwise(state, function, kept(place, name)));
        const bool goes = qt::echo_flag().load(std::memory_order_relaxed) || is_fatal_in_qt(place.type);
        if (!records && !goes) return {};
        return {&place, function, name, records, goes};
    }
    static const char* kept(QtPlace& place, const char* name) {
        const char* known = place.category.load(std::memory_order_acquire);
        if (known != nullptr) return known;
        char* copy = ::strdup(name);
        if (place.category.compare_exchange_strong(known, copy, std::memory_order_acq_rel)) return copy;
        ::free(copy);
        return known;
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
            // It may live longer than this thread: Qt's own of a category that is off, whatever rules say.
            static auto* const off = new QLoggingCategory("silverpoint.off");
            off->setEnabled(QtDebugMsg, false);
            return QMessageLogger().debug(*off);
        }
        ensure_qt_handler();
        capture_qt_source(place->type, place->site.site.file, static_cast<int>(place->site.site.line),
                          function, category, records);
        switch (place->type) {
            case QtInfoMsg:
                return logger().info();
            case QtWarningMsg:
                return logger().warning();
            case QtFatalMsg:
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
                return logger().fatal();
#else
                return logger().critical();  // the handler ends the program (capture_qt_source)
#endif
            case QtCriticalMsg:
                return logger().critical();
            case QtDebugMsg:
                break;
        }
        return logger().debug();
    }
};

// A line as far as it is written: records when it ends. `Out` calls the operator << of the place where the
// statement stands.
//
// An exception out of an operator << of the program goes on, as it does with Qt; what was written until then
// is recorded. So is what a statement has begun when an exception ends it.
template <class Out, class Pieces, bool kSpace, bool kQuote>
class QtLine {
    static constexpr bool kIsTyped = kQtWayOf<Pieces> == QtWay::kTyped;

  public:
    QtLine(const QtHead& head, Pieces&& pieces) : head_(head), pieces_(std::move(pieces)) {}
    QtLine(const QtLine&) = delete;
    QtLine& operator=(const QtLine&) = delete;
    SP_DETAIL_HOT ~QtLine() noexcept(kIsTyped) {
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
        return put_text(text);
    }
    // (By value, as QDebug takes them: of bit fields and of constants without a definition there is no
    // reference.)
    template <class T>
        requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
    SP_DETAIL_HOT auto operator<<(T value) && {
        return put<T, T>(value);
    }
    template <class T>
        requires(std::is_class_v<std::remove_reference_t<T>> || std::is_union_v<std::remove_reference_t<T>>)
    SP_DETAIL_HOT auto operator<<(T&& value) && {
        using Plain = std::remove_cvref_t<T>;
        if constexpr (std::same_as<Plain, QTextStreamManipulator>) {
            return next<kSpace, kQuote>(QtManipulator<Plain>{value});
        } else {
            return put<Plain, T>(value);
        }
    }
    template <class T>
        requires(!std::is_arithmetic_v<T> && !std::is_enum_v<T> && !std::is_class_v<T> && !std::is_union_v<T>)
    SP_DETAIL_HOT auto operator<<(const T& value) && {
        if constexpr (std::is_function_v<T>) {
            return next<kSpace, kQuote>(QtManipulator<T*>{&value});
        } else if constexpr (std::same_as<T, QTextStreamFunction>) {
            return next<kSpace, kQuote>(QtManipulator<T>{value});
        } else if constexpr (std::same_as<T, const char*> || std::same_as<T, char*>) {
            return put_text(value);
        } else if constexpr (std::is_pointer_v<T> && Character<std::remove_cv_t<std::remove_pointer_t<T>>> &&
                             std::is_convertible_v<T, const void*> &&
                             !std::same_as<std::remove_cv_t<std::remove_pointer_t<T>>, char16_t>) {
            // QDebug writes where it lies, and there need be no text.
            const void* address = value;
            return put<const void*, const void*>(address);
        } else {
            return put<T, const T&>(value);
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
    auto maybeQuote(char mark = '"') && { return next<kSpace, kQuote>(QtManipulator<QtQuoteMark>{{mark}}); }
    auto verbosity(int level) && { return next<kSpace, kQuote>(QtVerbosity{level}); }
    auto resetFormat() && { return next<true, true>(QtReset{}); }

    // --- Held in a variable: a QDebug from then on.

    template <class T>
        requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
    QDebug& operator<<(T value) & {
        Out{}(real(), value);
        return *held_;
    }
    template <class T>
        requires(std::is_class_v<std::remove_reference_t<T>> || std::is_union_v<std::remove_reference_t<T>>)
    QDebug& operator<<(T&& value) & {
        Out{}(real(), value);
        return *held_;
    }
    template <class T>
        requires(!std::is_arithmetic_v<T> && !std::is_enum_v<T> && !std::is_class_v<T> && !std::is_union_v<T>)
    QDebug& operator<<(const T& value) & {
        Out{}(real(), value);
        return *held_;
    }
    QDebug& space() & { return real().space(); }
    QDebug& nospace() & { return real().nospace(); }
    QDebug& quote() & { return real().quote(); }
    QDebug& noquote() & { return real().noquote(); }
    QDebug& maybeSpace() & { return real().maybeSpace(); }
    QDebug& maybeQuote(char mark = '"') & { return real().maybeQuote(mark); }
    QDebug& verbosity(int level) & { return real().verbosity(level); }
    QDebug& resetFormat() & { return real().resetFormat(); }
    int verbosity() { return real().verbosity(); }
    void setVerbosity(int level) { real().setVerbosity(level); }
    bool autoInsertSpaces() { return real().autoInsertSpaces(); }
    void setAutoInsertSpaces(bool on) { real().setAutoInsertSpaces(on); }
    void swap(QDebug& other) & { real().swap(other); }
    // (A copy of it may live longer than this.)
    operator QDebug&() { return real(); }

  private:
    template <class T, class Given, class V>
    SP_DETAIL_HOT auto put(V& value) {
        constexpr bool kIsKnown = QtLook<T, kQuote>::kIsThere;
        return next<kSpace, kQuote>(
            QtValue<T, kSpace, kQuote, QtKept<T, Given>, std::conditional_t<kIsKnown, void, Out>>{value});
    }
    SP_DETAIL_HOT auto put_text(const char* text) {
        return next<kSpace, kQuote>(QtValue<const char*, kSpace, kQuote, QtKeptText, void>{QtKeptText{text}});
    }
    template <bool kSpaceNext, bool kQuoteNext, class Piece>
    SP_DETAIL_HOT auto next(Piece&& piece) {
        using All = QtPieces<Pieces, Piece>;
        const QtHead head = head_;
        head_.place = nullptr;
        return QtLine<Out, All, kSpaceNext, kQuoteNext>(head, All{std::move(pieces_), std::move(piece)});
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
        if constexpr (kIsTyped) {
            if (head_.records) record_qt_typed(*head_.place, pieces...);
            if (head_.goes_to_qt) [[unlikely]]
                head_.send(QtWritten<P...>::of(pieces...).all);
        } else {
            QtWritten<P...> written;
#if defined(__cpp_exceptions)
            try {
                written.write_all(pieces...);
                if (head_.records) record_qt_written<kQtWayOf<Pieces>>(*head_.place, written, pieces...);
            } catch (...) {
                if (head_.records) record_qt_whole(head_.place->site, written.all);
                if (head_.goes_to_qt) head_.send(written.all);
                // (It cannot leave while another one is under way.)
                if (std::uncaught_exceptions() == 0) throw;
                return;
            }
#else
            written.write_all(pieces...);
            if (head_.records) record_qt_written<kQtWayOf<Pieces>>(*head_.place, written, pieces...);
#endif
            if (head_.goes_to_qt) [[unlikely]]
                head_.send(written.all);
        }
    }

    QtHead head_;
    QDebug* held_ = nullptr;
    [[no_unique_address]] Pieces pieces_;
};

// What the macros call a member of. The names are those of the forms that Qt has.
template <class Out>
struct QtStart {
    QtPlace* place;
    const char* function;
    QtStart(QtPlace* the_place, const char* the_function, Out) : place(the_place), function(the_function) {}
    using Line = QtLine<Out, Nothing, true, true>;
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
    // (Qt has streams of this type since 6.5. The program ends where the statement does.)
    Line fatal() const { return line(nullptr); }
    Line fatal(const QLoggingCategory& category) const { return line(&category); }
    Line fatal(CategoryFunction category) const { return line(&category()); }
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
        if (head.records) record_qt_percent(*place, text, args...);
        if (head.goes_to_qt) [[unlikely]]
            head.send(format_qt(text, pass_qt(args)...));
    }
};

SP_DETAIL_END
