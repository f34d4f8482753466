// The type of qDebug() << a << b (qt/debug.hpp). It names its pieces, and makes one record when the statement
// ends. Literals and spaces are the site's template; values are recorded with their types and their look
// (qt/look.hpp).
//
// There are three ways, chosen at compile time:
// - Only types of look.hpp: nothing is formatted (except where a value looks different: shows_alike).
// - Others among them: QDebug writes everything, and the record has the text of such a piece beside its
// value.
//   If an operator << leaves the stream in another state (no spaces, another base), the record is the text of
//   the whole.
// - Manipulators (Qt::hex, qSetFieldWidth, verbosity): the same, with the text of every piece.
#pragma once

#include <QDebug>
#include <QLoggingCategory>
#include <array>
#include <exception>
#include <tuple>

#include "handler.hpp"
#include "kept.hpp"

SP_DETAIL_BEGIN

// A place in the source with such a stream.
struct QtPlace {
    StreamSite site;
    // The pieces that its site is complete for (kQtShape): null as long as it is not, kQtBusy while a thread
    // completes it. Records of any other shape are text: those of a statement that an exception has ended
    // before its last piece.
    std::atomic<const void*> shape{nullptr};
    // That of its first message, and its address where it is a literal.
    std::atomic<const char*> category{nullptr}, category_literal{nullptr};
    QtMsgType type;
    constexpr QtPlace(QtMsgType the_type, const char* file, std::uint32_t line)
        : site(level_of_qt(the_type), file, line), type(the_type) {}
};

// --- Pieces

template <class Before, class Piece>
struct QtPieces {
    Before before;
    Piece piece;
};
// (Its length is no part of the type: statements that differ in their literals alone share their code.)
template <bool kSpace>
struct QtLiteral : Literal {};
template <class Piece>
inline constexpr bool kIsQtLiteral = false;
template <bool kSpace>
inline constexpr bool kIsQtLiteral<QtLiteral<kSpace>> = true;
// A T, kept as `Kept`. For types that are not in look.hpp, `Out` calls the operator << found at the place of
// the statement; otherwise it is void.
template <class T, bool kSpace, bool kQuote, class Kept, class Out>
struct QtValue {
    Kept value;
};
// A change of the stream's state: what QDebug does for it.
struct QtSpace {};
template <bool kSpaces>
struct QtSpaces {};
template <bool kQuotes>
struct QtQuotes {};
template <class Thing>
struct QtManipulator {
    Thing manipulator;
};
struct QtVerbosity {
    int level;
};
struct QtReset {};
// maybeQuote(): a manipulator by its operator <<.
struct QtQuoteMark {
    char mark;
    friend QDebug& operator<<(QDebug& out, const QtQuoteMark& of) { return out.maybeQuote(of.mark); }
};

enum class QtWay { kTyped, kMixed, kWritten };

// Whether everything inside can be recorded.
template <class T>
constexpr bool records_whole() {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T> || Described<T>) {
        return true;
    } else if constexpr (std::is_array_v<T>) {
        return records_whole<std::remove_cv_t<std::remove_extent_t<T>>>();
    } else if constexpr (requires {
                             typename T::key_type;
                             typename T::mapped_type;
                         }) {
        return records_whole<typename T::key_type>() && records_whole<typename T::mapped_type>();
    } else if constexpr (requires { Codec<T>::kIsWhole; } || TextLike<T>) {
        return true;
    } else if constexpr (RangeLike<T>) {
        using Element = typename ElementOf<T>::type;
        if constexpr (std::same_as<Element, T>) {
            return false;
        } else {
            return records_whole<Element>();
        }
    } else if constexpr (requires {
                             typename T::first_type;
                             typename T::second_type;
                         }) {
        return records_whole<std::remove_cv_t<typename T::first_type>>() &&
               records_whole<std::remove_cv_t<typename T::second_type>>();
    } else if constexpr (TupleLike<T> || VariantLike<T> || ExpectedLike<T> || OptionalLike<T> ||
                         OwnerLike<T> || ReferenceLike<T> || AtomicLike<T>) {
        return false;
    } else {
        return Recordable<T>;
    }
}

template <class Pushed>
struct QtTraits {
    static constexpr QtWay kWay = QtWay::kTyped;
};
template <class T, bool kSpace, bool kQuote, class Kept, class Out>
struct QtTraits<QtValue<T, kSpace, kQuote, Kept, Out>> {
    static constexpr QtWay kWay = QtLook<T, kQuote>::kIsThere ? QtWay::kTyped : QtWay::kMixed;
};
template <class Thing>
struct QtTraits<QtManipulator<Thing>> {
    static constexpr QtWay kWay = QtWay::kWritten;
};
template <>
struct QtTraits<QtVerbosity> : QtTraits<QtManipulator<int>> {};
template <>
struct QtTraits<QtReset> : QtTraits<QtManipulator<int>> {};

template <class... Pushed>
constexpr QtWay qt_way() {
    QtWay way = QtWay::kTyped;
    ((way = QtTraits<Pushed>::kWay > way ? QtTraits<Pushed>::kWay : way), ...);
    return way;
}

// The same of nested pairs.
template <class Pieces>
inline constexpr QtWay kQtWayOf = QtWay::kTyped;
template <class Before, class Piece>
inline constexpr QtWay kQtWayOf<QtPieces<Before, Piece>> =
    kQtWayOf<Before> > QtTraits<Piece>::kWay ? kQtWayOf<Before> : QtTraits<Piece>::kWay;

template <class Visit, class... Later>
SP_DETAIL_HOT decltype(auto) with_qt_pieces(const Nothing&, Visit&& visit, const Later&... later) {
    return visit(later...);
}
template <class Before, class Piece, class Visit, class... Later>
SP_DETAIL_HOT decltype(auto) with_qt_pieces(const QtPieces<Before, Piece>& pieces, Visit&& visit,
                                            const Later&... later) {
    return with_qt_pieces(pieces.before, visit, pieces.piece, later...);
}

// --- What QDebug writes of a piece.

template <bool kSpace>
void write_qt(QDebug& out, const QtLiteral<kSpace>& literal) {
    out << literal.text;
}
// The value as it was given.
template <class T, bool kSpace, bool kQuote, class Kept, class Out>
SP_DETAIL_HOT decltype(auto) qt_value(const QtValue<T, kSpace, kQuote, Kept, Out>& piece) {
    if constexpr (std::same_as<Kept, QtKeptText>) {
        return piece.value.get();
    } else {
        return (piece.value);
    }
}
template <class T, bool kSpace, bool kQuote, class Kept, class Out>
void write_qt(QDebug& out, const QtValue<T, kSpace, kQuote, Kept, Out>& piece) {
    if constexpr (std::is_void_v<Out>) {
        out << qt_value(piece);
    } else {
        Out{}(out, qt_value(piece));
    }
}
inline void write_qt(QDebug& out, const QtSpace&) { out.space(); }
template <bool kSpaces>
void write_qt(QDebug& out, const QtSpaces<kSpaces>&) {
    out.setAutoInsertSpaces(kSpaces);
}
template <bool kQuotes>
void write_qt(QDebug& out, const QtQuotes<kQuotes>&) {
    if constexpr (kQuotes) {
        out.quote();
    } else {
        out.noquote();
    }
}
template <class Thing>
void write_qt(QDebug& out, const QtManipulator<Thing>& piece) {
    out << piece.manipulator;
}
inline void write_qt(QDebug& out, const QtVerbosity& piece) { out.verbosity(piece.level); }
inline void write_qt(QDebug& out, const QtReset&) { out.resetFormat(); }

// Whether a stream is still in its earlier state: checked by how it writes some values.
SP_DETAIL_COLD bool is_unchanged_qt(QDebug& out, QString& text, bool spaces, bool quotes) {
    const auto probe = [](QDebug& to) { to << 255 << 0.123456789 << QStringLiteral("\""); };
    const qsizetype before = text.size();
    probe(out);
    const QString got = text.mid(before);
    text.truncate(before);
    QString expected;
    QDebug fresh(&expected);
    fresh.setAutoInsertSpaces(spaces);
    if (!quotes) fresh.noquote();
    probe(fresh);
    return got == expected && out.verbosity() == fresh.verbosity() && out.autoInsertSpaces() == spaces;
}

// All pieces as QDebug writes them, and where each ends.
template <class... Pushed>
struct QtWritten {
    QString all;
    std::array<qsizetype, sizeof...(Pushed) + 1> ends{};
    bool is_changed = false;

    static QtWritten of(const Pushed&... pieces) {
        QtWritten made;
        made.write_all(pieces...);
        return made;
    }
    // May throw what the program's operator << throws: `all` is what was written until then.
    void write_all(const Pushed&... pieces) {
        QDebug out(&all);
        [[maybe_unused]] std::size_t number = 0;
        [[maybe_unused]] bool spaces = true, quotes = true;
        [[maybe_unused]] const auto write = [&]<class Piece>(const Piece& piece) {
            write_qt(out, piece);
            follow(piece, spaces, quotes);
            if constexpr (QtTraits<Piece>::kWay == QtWay::kMixed)
                is_changed = is_changed || !is_unchanged_qt(out, all, spaces, quotes);
            ends[++number] = all.size();
        };
        (write(pieces), ...);
        if (out.autoInsertSpaces() && all.endsWith(u' ')) all.chop(1);
        for (qsizetype& end : ends)
            if (end > all.size()) end = all.size();
    }
    TextRef<char16_t> part(std::size_t number) const {
        const QStringView view(all);
        return Utf16::of(view.sliced(ends[number], ends[number + 1] - ends[number]));
    }

  private:
    template <class Piece>
    static void follow(const Piece&, bool&, bool&) {}
    static void follow(const QtSpace&, bool& spaces, bool&) { spaces = true; }
    template <bool kSpaces>
    static void follow(const QtSpaces<kSpaces>&, bool& spaces, bool&) {
        spaces = kSpaces;
    }
    template <bool kQuotes>
    static void follow(const QtQuotes<kQuotes>&, bool&, bool& quotes) {
        quotes = kQuotes;
    }
};

// --- The template

class QtTemplate {
  public:
    template <QtWay kWay, class... Pushed>
    static QtTemplate of(const Pushed&... pieces) {
        QtTemplate made;
        (made.add<kWay>(pieces), ...);
        if (made.spaces_ && made.len_ > 0 && made.text_[made.len_ - 1] == ' ' && kWay != QtWay::kWritten)
            --made.len_;
        return made;
    }
    // Too long: it must not be used.
    bool is_full() const { return len_ > sizeof text_; }
    std::string_view text() const { return {text_, len_}; }

  private:
    template <QtWay kWay, bool kSpace>
    void add(const QtLiteral<kSpace>& literal) {
        if constexpr (kWay == QtWay::kWritten) {
            put("{}");
        } else {
            for (const char& c : literal.view()) {
                put({&c, 1});
                if (c == '{' || c == '}') put({&c, 1});
            }
            if (kSpace) put(" ");
        }
    }
    template <QtWay kWay, class T, bool kSpace, bool kQuote, class Kept, class Out>
    void add(const QtValue<T, kSpace, kQuote, Kept, Out>&) {
        put("{}");
        // (QDebug's text already contains its space.)
        if (kSpace && kWay != QtWay::kWritten && QtLook<T, kQuote>::kIsThere) put(" ");
    }
    template <QtWay kWay>
    void add(const QtSpace&) {
        spaces_ = true;
        put(kWay == QtWay::kWritten ? "{}" : " ");
    }
    template <QtWay kWay, bool kSpaces>
    void add(const QtSpaces<kSpaces>&) {
        spaces_ = kSpaces;
    }
    template <QtWay kWay, bool kQuotes>
    void add(const QtQuotes<kQuotes>&) {}
    template <QtWay kWay, class Thing>
    void add(const QtManipulator<Thing>&) {
        put("{}");
    }
    template <QtWay kWay>
    void add(const QtVerbosity&) {}
    template <QtWay kWay>
    void add(const QtReset&) {}

    void put(std::string_view text) {
        for (const char c : text) {
            if (len_ < sizeof text_) text_[len_] = c;
            ++len_;
        }
    }
    char text_[2048];
    std::size_t len_ = 0;
    bool spaces_ = true;
};

// --- Arguments of the record

template <QtWay kWay, std::size_t kNumber, class Written, class Piece>
SP_DETAIL_HOT auto qt_argument([[maybe_unused]] const Written& written, [[maybe_unused]] const Piece& piece) {
    return std::tuple<>();
}
template <QtWay kWay, std::size_t kNumber, class Written, bool kSpace>
SP_DETAIL_HOT auto qt_argument([[maybe_unused]] const Written& written, const QtLiteral<kSpace>&) {
    if constexpr (kWay == QtWay::kWritten) {
        return std::tuple<WrittenText>(WrittenText{written.part(kNumber)});
    } else {
        return std::tuple<>();
    }
}
template <QtWay kWay, std::size_t kNumber, class Written, class T, bool kSpace, bool kQuote, class Kept,
          class Out>
SP_DETAIL_HOT auto qt_argument([[maybe_unused]] const Written& written,
                               const QtValue<T, kSpace, kQuote, Kept, Out>& piece) {
    if constexpr (kWay != QtWay::kWritten && QtLook<T, kQuote>::kIsThere) {
        using Argument = Looked<T, kQuote>;
        return std::tuple<Argument>(Argument{QtCaptured<T>::of(qt_value(piece))});
    } else if constexpr (records_whole<T>()) {
        using Argument = WrittenValue<T>;
        return std::tuple<Argument>(Argument{written.part(kNumber), Capture<T>::of(qt_value(piece))});
    } else {
        return std::tuple<WrittenText>(WrittenText{written.part(kNumber)});
    }
}
template <QtWay kWay, std::size_t kNumber, class Written>
auto qt_argument(const Written& written, const QtSpace&) {
    if constexpr (kWay == QtWay::kWritten) {
        return std::tuple<WrittenText>(WrittenText{written.part(kNumber)});
    } else {
        return std::tuple<>();
    }
}
template <QtWay kWay, std::size_t kNumber, class Written, class Thing>
auto qt_argument(const Written& written, const QtManipulator<Thing>&) {
    return std::tuple<WrittenText>(WrittenText{written.part(kNumber)});
}

template <QtWay kWay, class Written, class Use, class... Pushed>
SP_DETAIL_HOT void with_qt_arguments(const Written& written, const Use& use, const Pushed&... pieces) {
    [&]<std::size_t... Index>(std::index_sequence<Index...>) SP_DETAIL_HOT_LAMBDA {
        std::apply(use, std::tuple_cat(qt_argument<kWay, Index>(written, pieces)...));
    }(std::index_sequence_for<Pushed...>{});
}

// A tuple of those that with_qt_arguments hands out.
template <QtWay kWay, class Written, class... Pushed, std::size_t... Index>
auto qt_arguments(std::index_sequence<Index...>)
    -> decltype(std::tuple_cat(qt_argument<kWay, Index>(std::declval<const Written&>(),
                                                        std::declval<const Pushed&>())...));
template <class... Ts>
SP_DETAIL_COLD bool complete_qt_site(Site& site, std::string_view text,
                                     std::type_identity<std::tuple<Ts...>>) {
    return complete_site<Ts...>(site, Kind::kStream, {}, text) != 0;
}

// --- Recording

template <class... Pushed>
SP_DETAIL_HOT bool are_known_qt_literals(const StreamSite& site, const Pushed&... pieces) {
    [[maybe_unused]] unsigned number = 0;
    bool same = true;
    [[maybe_unused]] const auto look = [&]<class Piece>(const Piece& piece) SP_DETAIL_HOT_LAMBDA {
        if constexpr (kIsQtLiteral<Piece>) {
            same = same && number < StreamSite::kLiteralsMax &&
                   site.literals[number].load(std::memory_order_relaxed) == piece.text;
            ++number;
        }
    };
    (look(pieces), ...);
    return same;
}

// Whether all values look as QDebug writes them.
template <class Piece>
SP_DETAIL_HOT bool shows_alike_in_qt(const Piece&) {
    return true;
}
template <ShowsOtherwise T, bool kSpace, bool kQuote, class Kept>
SP_DETAIL_HOT bool shows_alike_in_qt(const QtValue<T, kSpace, kQuote, Kept, void>& piece) {
    return shows_alike(qt_value(piece));
}
// (Without quotes bytes are text.)
template <class T, bool kSpace, class Kept>
    requires(std::same_as<T, QByteArray> || std::same_as<T, QByteArrayView>)
SP_DETAIL_HOT bool shows_alike_in_qt(const QtValue<T, kSpace, false, Kept, void>& piece) {
    const QByteArrayView bytes(qt_value(piece));
    return shows_utf8_alike(bytes.data(), static_cast<std::size_t>(bytes.size()));
}
template <class... Pushed>
SP_DETAIL_HOT bool show_alike_in_qt(const Pushed&... pieces) {
    return (shows_alike_in_qt(pieces) && ...);
}

// Whether the literals are usable (templates are UTF-8; a literal in another encoding is recorded as text).
// If so they are noted for the site, by the one thread that completes it.
template <class... Pushed>
SP_DETAIL_COLD bool note_qt_literals(StreamSite& site, const Pushed&... pieces) {
    [[maybe_unused]] unsigned number = 0;
    bool are = true;
    [[maybe_unused]] const auto look = [&]<class Piece>(const Piece& piece) {
        if constexpr (kIsQtLiteral<Piece>) {
            are = are && number < StreamSite::kLiteralsMax && is_read_only(piece.text) &&
                  is_utf8_for_qt(piece.view());
            if (are) site.literals[number++].store(piece.text, std::memory_order_relaxed);
        }
    };
    (look(pieces), ...);
    return are;
}

// What stands in QtPlace::shape. (Not constant, so that no linker folds them into one.)
template <class... Pushed>
inline char kQtShape = 0;
inline char kQtBusy = 0;

// Completes a place for records of this shape by `complete`, in the first thread that asks; other threads
// wait a moment for it. Returns whether the place is complete for this shape.
//
// Not while an exception is being handled. The statement may have ended before its last piece, and the place
// would stay complete for a part of it.
template <class Complete>
SP_DETAIL_COLD bool complete_qt(QtPlace& place, const void* shape, const Complete& complete) {
    const void* known = place.shape.load(std::memory_order_acquire);
    if (known == nullptr && std::uncaught_exceptions() == 0 &&
        place.shape.compare_exchange_strong(known, &kQtBusy, std::memory_order_acq_rel)) {
        const bool is_complete = complete();
        place.shape.store(is_complete ? shape : nullptr, std::memory_order_release);
        return is_complete;
    }
    for (int i = 0; i < 1000 && known == &kQtBusy; ++i) {
        pause_processor();
        known = place.shape.load(std::memory_order_acquire);
    }
    return known == shape;
}

SP_DETAIL_COLD void record_qt_whole(StreamSite& site, QStringView text) {
    if (site.as_text.is_wanted(site.site.function.load(std::memory_order_relaxed),
                               site.site.category.load(std::memory_order_relaxed)))
        record_qt_text(site.as_text, Kind::kStream, text);
}

template <QtWay kWay, class Written, class... Pushed>
SP_DETAIL_HOT void record_qt_pieces(Site& site, const Written& written, const Pushed&... pieces) {
    with_qt_arguments<kWay>(
        written,
        [&]<class... Ts>(const Ts&... args) SP_DETAIL_HOT_LAMBDA {
            const std::uint64_t head = site.head.load(std::memory_order_relaxed);
            if (head == 0) [[unlikely]] {
                record_completed(marked_head(site, Kind::kStream), site, args...);
            } else {
                record_captured(head, site, args...);
            }
        },
        pieces...);
}

// Whether a place is ready for records of these pieces, judged by their literals.
template <QtWay kWay, class Written, class... Pushed>
SP_DETAIL_COLD bool is_ready_for_qt(QtPlace& place, const Pushed&... pieces) {
    StreamSite& site = place.site;
    const bool is_complete = complete_qt(place, &kQtShape<Pushed...>, [&] {
        const QtTemplate made = QtTemplate::of<kWay>(pieces...);
        if (made.is_full() || (kWay != QtWay::kWritten && !note_qt_literals(site, pieces...))) return false;
        using Arguments =
            decltype(qt_arguments<kWay, Written, Pushed...>(std::index_sequence_for<Pushed...>{}));
        return complete_qt_site(site.site, made.text(), std::type_identity<Arguments>{});
    });
    return is_complete && (kWay == QtWay::kWritten || are_known_qt_literals(site, pieces...));
}

// The first record of a place, and every record whose literals differ from the first one's.
template <class... Pushed>
SP_DETAIL_COLD void record_unusual_qt(QtPlace& place, const Pushed&... pieces) {
    if (show_alike_in_qt(pieces...) && is_ready_for_qt<QtWay::kTyped, Nothing>(place, pieces...))
        return record_qt_pieces<QtWay::kTyped>(place.site.site, Nothing{}, pieces...);
    record_qt_whole(place.site, QtWritten<Pushed...>::of(pieces...).all);
}

template <class... Pushed>
SP_DETAIL_HOT void record_qt_typed(QtPlace& place, const Pushed&... pieces) {
    if (place.shape.load(std::memory_order_acquire) == &kQtShape<Pushed...> &&
        are_known_qt_literals(place.site, pieces...) && show_alike_in_qt(pieces...)) [[likely]] {
        record_qt_pieces<QtWay::kTyped>(place.site.site, Nothing{}, pieces...);
    } else {
        record_unusual_qt(place, pieces...);
    }
}

template <QtWay kWay, class... Pushed>
SP_DETAIL_COLD void record_qt_written(QtPlace& place, const QtWritten<Pushed...>& written,
                                      const Pushed&... pieces) {
    if ((kWay == QtWay::kMixed && (written.is_changed || !show_alike_in_qt(pieces...))) ||
        !is_ready_for_qt<kWay, QtWritten<Pushed...>>(place, pieces...))
        return record_qt_whole(place.site, written.all);
    record_qt_pieces<kWay>(place.site.site, written, pieces...);
}

SP_DETAIL_END
