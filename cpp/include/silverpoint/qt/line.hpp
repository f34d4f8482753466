// The beginning and the end of the macros of qt/debug.hpp. It records the pieces, or becomes a QDebug where
// one is needed (`QDebug d = qDebug();`, a function that takes one).
#pragma once

#include <cstdarg>
#include <cstdlib>

#include "percent.hpp"
#include "stream.hpp"

SP_DETAIL_BEGIN

// The place of a line, and what happens to it.
struct QtHead {
    QtPlace* place = nullptr;  // null: nothing happens to it
    const char* function = nullptr;
    const char* category = nullptr;
    // Recorded at its place; its text recorded by a source of another category; its text given to Qt.
    // So is it to the USDT probe of messages.
    static constexpr unsigned kRecords = 1, kOfAnother = 2, kGoesToQt = 4, kToTracer = 8;
    unsigned fate = 0;

    // `named` null: no category was given.
    SP_DETAIL_HOT static QtHead of(QtPlace& place, const char* function, const QLoggingCategory* named) {
        const QLoggingCategory* category = named != nullptr ? named : QLoggingCategory::defaultCategory();
        if (category != nullptr && !category->isEnabled(place.type)) return {};
        const char* name = category == nullptr ? "default" : category->categoryName();
        if (name != place.category_literal.load(std::memory_order_relaxed)) [[unlikely]]
            return of_otherwise(place, function, name, usdt_wants_statements());
        return of_its_own(place, function, name, usdt_wants_statements());
    }
    SP_DETAIL_HOT static QtHead of_its_own(QtPlace& place, const char* function, const char* name,
                                           bool is_traced) {
        Site& site = place.site.site;
        const std::uint8_t state = site.state_byte();
        const bool records =
            state == 1 ||
            (state != 0 &&
             (site.is_quiet(state) ||
              site.is_wanted_otherwise(state, function, place.category.load(std::memory_order_acquire))));
        const bool goes = qt::echo_flag().load(std::memory_order_relaxed) || is_fatal_in_qt(place.type);
        if (!records && !goes && !is_traced) return {};
        return {&place, function, name,
                (records ? kRecords : 0) | (goes ? kGoesToQt : 0) | (is_traced ? kToTracer : 0)};
    }
    SP_DETAIL_COLD static QtHead of_otherwise(QtPlace& place, const char* function, const char* name,
                                              bool is_traced) {
        return is_category_of(place, name) ? of_its_own(place, function, name, is_traced)
                                           : of_another(place, function, name, is_traced);
    }
    // The first category stays the site's: it is copied, since it may not live so long.
    SP_DETAIL_COLD static bool is_category_of(QtPlace& place, const char* name) {
        const char* known = place.category.load(std::memory_order_acquire);
        if (known == nullptr) {
            char* copy = ::strdup(name);
            if (place.category.compare_exchange_strong(known, copy, std::memory_order_acq_rel)) {
                // From now on a text that cannot change is recognized by its address.
                if (is_read_only(name)) place.category_literal.store(name, std::memory_order_relaxed);
                return true;
            }
            ::free(copy);
        }
        return std::strcmp(known, name) == 0;
    }
    // A message with another category than the first of its place: a text from a source of its own.
    SP_DETAIL_COLD static QtHead of_another(QtPlace& place, const char* function, const char* name,
                                            bool is_traced) {
        QtSource& source = source_of_another(place, function, name);
        const bool records = source.site.is_wanted(source.function, source.category);
        const bool goes = qt::echo_flag().load(std::memory_order_relaxed) || is_fatal_in_qt(place.type);
        if (!records && !goes && !is_traced) return {};
        return {&place, function, name,
                (records ? kOfAnother : 0) | (goes ? kGoesToQt : 0) | (is_traced ? kToTracer : 0)};
    }
    static QtSource& source_of_another(QtPlace& place, const char* function, const char* name) {
        const Site& site = place.site.site;
        QtSource* own = find_qt_source(place.type, site.file, static_cast<int>(site.line), function, name,
                                       QtSources::kMostCaptured);
        return own != nullptr ? *own : *find_qt_source(place.type, "", 0, "", name, ~0u);
    }
    bool records() const { return (fate & kRecords) != 0; }
    bool delivers() const { return fate > kRecords; }
    QMessageLogger logger() const {
        return {place->site.site.file, static_cast<int>(place->site.site.line), function, category};
    }
    // Further receivers of the text, besides the record of its place.
    SP_DETAIL_COLD void deliver(const QString& text) const {
        if ((fate & kToTracer) != 0 && usdt_wants_messages())
            trace_qt_message(place->type, category, text, place->site.site.file, place->site.site.line);
        if ((fate & kOfAnother) != 0)
            record_qt_text(source_of_another(*place, function, category).site, Kind::kLog, text);
        if ((fate & kGoesToQt) == 0) return;
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
    // A stream of Qt's own; its message comes back to the handler.
    SP_DETAIL_COLD QDebug real() const {
        if (place == nullptr) {
            // It may outlive this thread: Qt's own of a category that is off, no matter what the rules say.
            static auto* const off = new QLoggingCategory("silverpoint.off");
            off->setEnabled(QtDebugMsg, false);
            return QMessageLogger().debug(*off);
        }
        link_qt_handler();
        capture_qt_source(place->type, place->site.site.file, static_cast<int>(place->site.site.line),
                          function, category);
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

// The part of a line that is written so far: it records when it ends. (Without the type of its statement:
// statements with the same pieces share this code.)
//
// An exception from the program's operator << propagates, as with Qt. What was written until then is
// recorded, and so is what a statement has begun when an exception ends it.
template <class Pieces>
class QtLineOf {
    static constexpr bool kIsTyped = kQtWayOf<Pieces> == QtWay::kTyped;

  public:
    QtLineOf(const QtLineOf&) = delete;
    QtLineOf& operator=(const QtLineOf&) = delete;

    // --- Held in a variable: a QDebug from then on.

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
    // (A copy of it may outlive this, a reference must not.) One that is not held is a QDebug&& where that is
    // enough: functions that are no templates come first.
    template <std::same_as<QDebug> Quantity>
    operator Quantity&() {
        return real();
    }
    operator QDebug&&() && { return std::move(real()); }
#if defined(__clang__)  // GCC converts by the first, and would use this for values that are not held, too
    operator const QDebug&() & { return real(); }
#endif

  protected:
    SP_DETAIL_HOT QtLineOf(const QtHead& head, Pieces&& pieces, QDebug* held = nullptr)
        : head_(head), held_(held), pieces_(std::move(pieces)) {}
    SP_DETAIL_HOT ~QtLineOf() noexcept(kIsTyped) {
        if (held_ != nullptr) {
            delete held_;
        } else if (head_.place != nullptr) {
            end(head_, pieces_);
        }
    }
    QDebug& real() {
        if (held_ == nullptr) {
            held_ = new QDebug(head_.real());
            with_qt_pieces(pieces_,
                           [&]([[maybe_unused]] const auto&... pieces) { (write_qt(*held_, pieces), ...); });
        }
        return *held_;
    }

    QtHead head_;
    QDebug* held_;
    [[no_unique_address]] Pieces pieces_;

  private:
    static void end(const QtHead& head, const Pieces& all) noexcept(kIsTyped) {
        with_qt_pieces(all, [&](const auto&... pieces) SP_DETAIL_HOT_LAMBDA { finish(head, pieces...); });
    }
    template <class... Pushed>
    SP_DETAIL_HOT static void finish(const QtHead& head, const Pushed&... pieces) {
        if constexpr (kIsTyped) {
            if (head.records()) record_qt_typed(*head.place, pieces...);
            if (head.delivers()) [[unlikely]] {
                const std::array<QtAny, sizeof...(Pushed)> all{QtAny::of(pieces)...};
                head.deliver(written_by_qt(all));
            }
        } else {
            const std::array<QtAny, sizeof...(Pushed)> all{QtAny::of(pieces)...};
            QtWritten written;
#if defined(__cpp_exceptions)
            try {
                written.write(all);
                if (head.records()) record_qt_written<kQtWayOf<Pieces>>(*head.place, written, all, pieces...);
            }
            SP_DETAIL_CATCH_END_OF_THREAD
            catch (...) {
                if (head.records()) record_qt_whole(head.place->site, written.all);
                if (head.delivers()) head.deliver(written.all);
                // (It cannot leave while another one is under way.)
                if (std::uncaught_exceptions() == 0) throw;
                return;
            }
#else
            written.write(all);
            if (head.records()) record_qt_written<kQtWayOf<Pieces>>(*head.place, written, all, pieces...);
#endif
            if (head.delivers()) [[unlikely]]
                head.deliver(written.all);
        }
    }
};

// The same in its statement, where each `<<` makes the next type: `Out` calls the operator << found at the
// place of the statement. kSpace and kQuote are the stream's state.
template <class Out, class Pieces, bool kSpace, bool kQuote>
class QtLine : public QtLineOf<Pieces> {
    using Base = QtLineOf<Pieces>;

  public:
    SP_DETAIL_HOT QtLine(const QtHead& head, Pieces&& pieces) : Base(head, std::move(pieces)) {}
    // One branch of `?:` becomes the type of the other.
    template <class Other>
        requires(std::same_as<Pieces, Nothing> && (Other::kRank > Out::kRank))
    QtLine(QtLine<Other, Pieces, kSpace, kQuote>&& other)
        : Base(std::exchange(other.head_, {}), {}, std::exchange(other.held_, nullptr)) {}

    template <std::size_t Length>
    SP_DETAIL_HOT auto operator<<(const char (&text)[Length]) && {
        return next<kSpace, kQuote>(QtLiteral<kSpace>{{text, Length}});
    }
    // An array that may change is no literal.
    template <std::size_t Length>
    SP_DETAIL_HOT auto operator<<(char (&text)[Length]) && {
        return put_text(text);
    }
    // (By value, as QDebug takes them: bit fields, and constants without a definition, have no reference.)
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
            // QDebug writes the address, and there need be no text.
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

    // Of one that is held.
    using Base::maybeQuote;
    using Base::maybeSpace;
    using Base::noquote;
    using Base::nospace;
    using Base::quote;
    using Base::resetFormat;
    using Base::space;
    using Base::verbosity;
    template <class T>
        requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
    QDebug& operator<<(T value) & {
        Out{}(this->real(), value);
        return *this->held_;
    }
    template <class T>
        requires(std::is_class_v<std::remove_reference_t<T>> || std::is_union_v<std::remove_reference_t<T>>)
    QDebug& operator<<(T&& value) & {
        Out{}(this->real(), value);
        return *this->held_;
    }
    template <class T>
        requires(!std::is_arithmetic_v<T> && !std::is_enum_v<T> && !std::is_class_v<T> && !std::is_union_v<T>)
    QDebug& operator<<(const T& value) & {
        Out{}(this->real(), value);
        return *this->held_;
    }

  private:
    template <class, class, bool, bool>
    friend class QtLine;

    template <class T, class Given, class Content>
    SP_DETAIL_HOT auto put(Content& value) {
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
        const QtHead head = this->head_;
        this->head_.place = nullptr;
        return QtLine<Out, All, kSpaceNext, kQuoteNext>(head,
                                                        All{std::move(this->pieces_), std::move(piece)});
    }
};

// Ranks by which `bad ? qWarning() : qDebug()` decides which of the two types becomes the other.
template <QtMsgType kType, unsigned kLine>
using QtRank = std::integral_constant<unsigned, static_cast<unsigned>(kType) << 28 | kLine>;
template <class Write, class Rank>
struct QtOut : Write {
    static constexpr unsigned kRank = Rank::value;
};

// The macros call its members. Their names are those of Qt's forms.
template <class Write, class Rank>
struct QtStart {
    QtPlace* place;
    const char* function;
    QtStart(QtPlace* the_place, const char* the_function, Rank, Write)
        : place(the_place), function(the_function) {}
    using Line = QtLine<QtOut<Write, Rank>, Nothing, true, true>;
    using CategoryFunction = const QLoggingCategory& (*)();

    SP_DETAIL_HOT Line message() const { return line(nullptr); }
    SP_DETAIL_HOT Line message(const QLoggingCategory& category) const { return line(&category); }
    SP_DETAIL_HOT Line message(CategoryFunction category) const { return line(&category()); }

    // (By value, as `...` takes them: constants without a definition have no reference.)
    template <class... Ts>
    SP_DETAIL_HOT void message(const char* text, Ts... args) const {
        formatted(nullptr, text, args...);
    }
    template <class... Ts>
    SP_DETAIL_HOT void message(const QLoggingCategory& category, const char* text, Ts... args) const {
        formatted(&category, text, args...);
    }
    template <class... Ts>
    SP_DETAIL_HOT void message(CategoryFunction category, const char* text, Ts... args) const {
        formatted(&category(), text, args...);
    }
    // (Qt has streams of this type since 6.5. The program ends where the statement does.)
    Line fatal() const { return line(nullptr); }
    Line fatal(const QLoggingCategory& category) const { return line(&category); }
    Line fatal(CategoryFunction category) const { return line(&category()); }
    template <class... Ts>
    [[noreturn]] void fatal(const char* text, Ts... args) const {
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
        if (head.records()) record_qt_percent(*place, text, args...);
        if (head.delivers()) [[unlikely]]
            head.deliver(format_qt(text, pass_qt(args)...));
    }
};

SP_DETAIL_END
