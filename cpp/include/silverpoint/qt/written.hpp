// The cold side of qDebug() << a << b, one for all statements: pieces behind pointers, what QDebug writes of
// them, and the template of their site. It is compiled once, not for each combination of types.
#pragma once

#include <QVarLengthArray>
#include <span>

#include "piece.hpp"

SP_DETAIL_BEGIN

// What a piece is, apart from its value.
enum class QtRole : std::uint8_t {
    kLiteral,
    kLooked,       // a value of look.hpp
    kValue,        // another value
    kSpace,        // a space is written
    kSpaces,       // spaces are written from here on, or not
    kQuotes,       // texts are quoted from here on, or not
    kManipulator,  // of QTextStream
    kState,        // verbosity(), resetFormat(): no text
};

// The constants of a piece's type. `is_on`: a literal and a value are followed by a space; kSpaces and
// kQuotes switch on.
struct QtKind {
    QtRole role;
    bool is_on;
    void (*write)(QDebug& out, const void* piece);
    bool (*shows_alike)(const void* piece);
};

template <class Piece>
inline constexpr QtRole kQtRole = QtRole::kState;
template <bool kSpace>
inline constexpr QtRole kQtRole<QtLiteral<kSpace>> = QtRole::kLiteral;
template <class T, bool kSpace, bool kQuote, class Kept, class Out>
inline constexpr QtRole kQtRole<QtValue<T, kSpace, kQuote, Kept, Out>> =
    QtLook<T, kQuote>::kIsThere ? QtRole::kLooked : QtRole::kValue;
template <>
inline constexpr QtRole kQtRole<QtSpace> = QtRole::kSpace;
template <bool kSpaces>
inline constexpr QtRole kQtRole<QtSpaces<kSpaces>> = QtRole::kSpaces;
template <bool kQuotes>
inline constexpr QtRole kQtRole<QtQuotes<kQuotes>> = QtRole::kQuotes;
template <class Thing>
inline constexpr QtRole kQtRole<QtManipulator<Thing>> = QtRole::kManipulator;

template <class Piece>
inline constexpr bool kQtIsOn = false;
template <bool kSpace>
inline constexpr bool kQtIsOn<QtLiteral<kSpace>> = kSpace;
template <class T, bool kSpace, bool kQuote, class Kept, class Out>
inline constexpr bool kQtIsOn<QtValue<T, kSpace, kQuote, Kept, Out>> = kSpace;
template <bool kSpaces>
inline constexpr bool kQtIsOn<QtSpaces<kSpaces>> = kSpaces;
template <bool kQuotes>
inline constexpr bool kQtIsOn<QtQuotes<kQuotes>> = kQuotes;

template <class Piece>
inline constexpr QtKind kQtKind = {
    kQtRole<Piece>,
    kQtIsOn<Piece>,
    [](QDebug& out, const void* piece) {
        if constexpr (kQtRole<Piece> == QtRole::kLiteral) {
            out << static_cast<const Literal*>(piece)->text;
        } else {
            write_qt(out, *static_cast<const Piece*>(piece));
        }
    },
    [](const void* piece) {
        if constexpr (kQtRole<Piece> == QtRole::kLiteral) {
            return true;
        } else {
            return shows_alike_in_qt(*static_cast<const Piece*>(piece));
        }
    },
};

// A piece whose type is known at run time.
struct QtAny {
    const QtKind* kind;
    const void* piece;

    template <class Piece>
    SP_DETAIL_HOT static QtAny of(const Piece& piece) {
        if constexpr (kQtRole<Piece> == QtRole::kLiteral) {
            return {&kQtKind<Piece>, static_cast<const Literal*>(&piece)};
        } else {
            return {&kQtKind<Piece>, &piece};
        }
    }
    // Its text, of a literal.
    const Literal& literal() const { return *static_cast<const Literal*>(piece); }
};
using QtAll = std::span<const QtAny>;

// All pieces as QDebug writes them, and where each ends.
class QtWritten {
  public:
    QString all;
    // An operator << has left the stream in another state than it was in.
    bool is_changed = false;

    // May throw what the program's operator << throws: `all` is what was written until then.
    SP_DETAIL_COLD void write(QtAll pieces) {
        QDebug out(&all);
        bool spaces = true, quotes = true;
        for (const QtAny& one : pieces) {
            one.kind->write(out, one.piece);
            if (one.kind->role == QtRole::kSpace) spaces = true;
            if (one.kind->role == QtRole::kSpaces) spaces = one.kind->is_on;
            if (one.kind->role == QtRole::kQuotes) quotes = one.kind->is_on;
            if (one.kind->role == QtRole::kValue)
                is_changed = is_changed || !is_unchanged_qt(out, all, spaces, quotes);
            ends_.append(all.size());
        }
        if (out.autoInsertSpaces() && all.endsWith(u' ')) all.chop(1);
    }
    // What was written of a piece.
    TextRef<char16_t> part(std::size_t number) const {
        const auto at = static_cast<qsizetype>(number);
        const qsizetype begin = number == 0 ? 0 : qMin(ends_[at - 1], all.size());
        return Utf16::of(QStringView(all).sliced(begin, qMin(ends_[at], all.size()) - begin));
    }

  private:
    QVarLengthArray<qsizetype, 16> ends_;
};
SP_DETAIL_COLD QString written_by_qt(QtAll pieces) {
    QtWritten written;
    written.write(pieces);
    return written.all;
}

// The template of a site.
class QtTemplate {
  public:
    SP_DETAIL_COLD QtTemplate(QtWay way, QtAll pieces) {
        bool spaces = true;
        for (const QtAny& one : pieces) {
            if (one.kind->role == QtRole::kSpace) spaces = true;
            if (one.kind->role == QtRole::kSpaces) spaces = one.kind->is_on;
            add(one, way == QtWay::kWritten);
        }
        if (spaces && len_ > 0 && len_ <= sizeof text_ && text_[len_ - 1] == ' ' && way != QtWay::kWritten)
            --len_;
    }
    // Too long: it must not be used.
    bool is_full() const { return len_ > sizeof text_; }
    std::string_view text() const { return {text_, len_}; }

  private:
    void add(const QtAny& one, bool is_written) {
        switch (one.kind->role) {
            case QtRole::kLiteral:
                if (is_written) return put("{}");
                for (const char& c : one.literal().view()) {
                    put({&c, 1});
                    if (c == '{' || c == '}') put({&c, 1});
                }
                if (one.kind->is_on) put(" ");
                return;
            case QtRole::kLooked:
                put("{}");
                if (one.kind->is_on && !is_written) put(" ");
                return;
            case QtRole::kValue:  // QDebug's text already contains its space
            case QtRole::kManipulator:
                return put("{}");
            case QtRole::kSpace:
                return put(is_written ? "{}" : " ");
            case QtRole::kSpaces:
            case QtRole::kQuotes:
            case QtRole::kState:
                return;
        }
    }
    void put(std::string_view text) {
        for (const char c : text) {
            if (len_ < sizeof text_) text_[len_] = c;
            ++len_;
        }
    }
    char text_[2048];
    std::size_t len_ = 0;
};

SP_DETAIL_COLD bool show_alike_in_qt(QtAll pieces) {
    for (const QtAny& one : pieces)
        if (!one.kind->shows_alike(one.piece)) return false;
    return true;
}

// Whether the literals are those of the site.
SP_DETAIL_COLD bool are_known_qt_literals(const StreamSite& site, QtAll pieces) {
    unsigned number = 0;
    for (const QtAny& one : pieces)
        if (one.kind->role == QtRole::kLiteral &&
            (number == StreamSite::kLiteralsMax ||
             site.literals[number++].load(std::memory_order_relaxed) != one.literal().text))
            return false;
    return true;
}

// Whether the literals are usable (templates are UTF-8; a literal in another encoding is recorded as text).
// If so they are noted for the site, by the one thread that completes it.
SP_DETAIL_COLD bool note_qt_literals(StreamSite& site, QtAll pieces) {
    unsigned number = 0;
    for (const QtAny& one : pieces) {
        if (one.kind->role != QtRole::kLiteral) continue;
        const auto& literal = one.literal();
        if (number == StreamSite::kLiteralsMax || !is_read_only(literal.text) ||
            !is_utf8_for_qt(literal.view()))
            return false;
        site.literals[number++].store(literal.text, std::memory_order_relaxed);
    }
    return true;
}

SP_DETAIL_END
