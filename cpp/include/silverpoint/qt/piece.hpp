// The pieces of qDebug() << a << b, as types: what each is, and what QDebug writes of it (stream.hpp has the
// whole).
#pragma once

#include <QDebug>
#include <cstring>

#include "kept.hpp"

SP_DETAIL_BEGIN

template <class Before, class Piece>
struct QtPieces {
    Before before;
    Piece piece;
};
// (Its length is no part of the type: statements that differ in their literals alone share their code.)
template <bool kSpace>
struct QtLiteral : Literal {};
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

// The way of all pieces.
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

// Whether a value looks as QDebug writes it.
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

SP_DETAIL_END
