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

#include <array>
#include <exception>

#include "handler.hpp"
#include "written.hpp"

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

// --- Arguments of the record

// Whether a piece is an argument.
template <QtWay kWay, class Piece>
constexpr bool is_qt_argument() {
    switch (kQtRole<Piece>) {
        case QtRole::kLooked:
        case QtRole::kValue:
        case QtRole::kManipulator:
            return true;
        case QtRole::kLiteral:
        case QtRole::kSpace:
            return kWay == QtWay::kWritten;
        case QtRole::kSpaces:
        case QtRole::kQuotes:
        case QtRole::kState:
            return false;
    }
}

// The text of a piece.
template <QtWay kWay, class Piece>
struct QtArgument {
    using Type = WrittenText;
    SP_DETAIL_HOT static Type of(const QtWritten* written, std::size_t number, const Piece&) {
        return {written->part(number)};
    }
};
// A value, with its look or beside its text.
template <QtWay kWay, class T, bool kSpace, bool kQuote, class Kept, class Out>
struct QtArgument<kWay, QtValue<T, kSpace, kQuote, Kept, Out>> {
    using Piece = QtValue<T, kSpace, kQuote, Kept, Out>;
    static constexpr bool kIsLooked = kWay != QtWay::kWritten && QtLook<T, kQuote>::kIsThere;
    using Type =
        std::conditional_t<kIsLooked, std::type_identity<Looked<T, kQuote>>,
                           std::conditional_t<records_whole<T>(), std::type_identity<WrittenValue<T>>,
                                              std::type_identity<WrittenText>>>::type;
    SP_DETAIL_HOT static Type of([[maybe_unused]] const QtWritten* written,
                                 [[maybe_unused]] std::size_t number, const Piece& piece) {
        if constexpr (kIsLooked) {
            return {QtCaptured<T>::of(qt_value(piece))};
        } else if constexpr (records_whole<T>()) {
            return {written->part(number), Capture<T>::of(qt_value(piece))};
        } else {
            return {written->part(number)};
        }
    }
};

// Calls `use` with the arguments among the pieces: handles the first one `kLeft` times.
template <QtWay kWay, std::size_t kLeft, std::size_t kNumber, class Use, class First, class... Rest>
SP_DETAIL_HOT void with_qt_arguments(const QtWritten* written, const Use& use, const First& first,
                                     const Rest&... rest) {
    if constexpr (kLeft == 0) {
        use(first, rest...);
    } else if constexpr (is_qt_argument<kWay, First>()) {
        with_qt_arguments<kWay, kLeft - 1, kNumber + 1>(written, use, rest...,
                                                        QtArgument<kWay, First>::of(written, kNumber, first));
    } else if constexpr (sizeof...(Rest) == 0) {
        use();
    } else {
        with_qt_arguments<kWay, kLeft - 1, kNumber + 1>(written, use, rest...);
    }
}

template <class... Ts>
SP_DETAIL_COLD bool complete_qt_site(Site& site, std::string_view text) {
    return complete_site<Ts...>(site, Kind::kStream, {}, text) != 0;
}
// The same for the arguments among the pieces: shapes that differ in their literals share it.
template <class... Ts>
struct QtArguments {};
template <QtWay kWay, class Arguments, class... Pushed>
inline constexpr bool (*kCompleteQtSite)(Site&, std::string_view) = nullptr;
template <QtWay kWay, class... Ts>
inline constexpr bool (*kCompleteQtSite<kWay, QtArguments<Ts...>>)(Site&, std::string_view) =
    complete_qt_site<Ts...>;
template <QtWay kWay, class... Ts, class First, class... Rest>
    requires(is_qt_argument<kWay, First>())
inline constexpr bool (*kCompleteQtSite<kWay, QtArguments<Ts...>, First, Rest...>)(Site&, std::string_view) =
    kCompleteQtSite<kWay, QtArguments<Ts..., typename QtArgument<kWay, First>::Type>, Rest...>;
template <QtWay kWay, class... Ts, class First, class... Rest>
    requires(!is_qt_argument<kWay, First>())
inline constexpr bool (*kCompleteQtSite<kWay, QtArguments<Ts...>, First, Rest...>)(Site&, std::string_view) =
    kCompleteQtSite<kWay, QtArguments<Ts...>, Rest...>;

// --- Recording

template <class... Pushed>
SP_DETAIL_HOT bool are_these_qt_literals(const StreamSite& site, const Pushed&... pieces) {
    [[maybe_unused]] unsigned number = 0;
    bool same = true;
    [[maybe_unused]] const auto look = [&]<class Piece>(const Piece& piece) SP_DETAIL_HOT_LAMBDA {
        if constexpr (kQtRole<Piece> == QtRole::kLiteral) {
            same = same && number < StreamSite::kLiteralsMax &&
                   site.literals[number].load(std::memory_order_relaxed) == piece.text;
            ++number;
        }
    };
    (look(pieces), ...);
    return same;
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

// What the cold path has to know of a statement.
struct QtShape {
    QtWay way;
    const void* id;  // kQtShape
    bool (*complete)(Site&, std::string_view);

    template <QtWay kWay, class... Pushed>
    static constexpr QtShape of() {
        return {kWay, &kQtShape<Pushed...>, kCompleteQtSite<kWay, QtArguments<>, Pushed...>};
    }
};

// Whether a place is ready for records of these pieces, judged by their literals.
SP_DETAIL_COLD bool is_ready_for_qt(QtPlace& place, const QtShape& shape, QtAll pieces) {
    StreamSite& site = place.site;
    const bool is_complete = complete_qt(place, shape.id, [&] {
        const QtTemplate made(shape.way, pieces);
        if (made.is_full() || (shape.way != QtWay::kWritten && !note_qt_literals(site, pieces))) return false;
        return shape.complete(site.site, made.text());
    });
    return is_complete && (shape.way == QtWay::kWritten || are_known_qt_literals(site, pieces));
}

// Asked for the first record of a place, and for every record whose literals differ from the first one's.
// True if the place is ready for it; otherwise its text is recorded.
SP_DETAIL_COLD bool is_ready_for_typed_qt(QtPlace& place, const QtShape& shape, QtAll pieces) {
    if (show_alike_in_qt(pieces) && is_ready_for_qt(place, shape, pieces)) return true;
    record_qt_whole(place.site, written_by_qt(pieces));
    return false;
}
SP_DETAIL_COLD bool is_ready_for_written_qt(QtPlace& place, const QtShape& shape, const QtWritten& written,
                                            QtAll pieces) {
    if ((shape.way == QtWay::kWritten || (!written.is_changed && show_alike_in_qt(pieces))) &&
        is_ready_for_qt(place, shape, pieces))
        return true;
    record_qt_whole(place.site, written.all);
    return false;
}

template <QtWay kWay, class... Pushed>
SP_DETAIL_HOT void record_qt_pieces(Site& site, const QtWritten* written, const Pushed&... pieces) {
    const auto use = [&]<class... Ts>(const Ts&... args) SP_DETAIL_HOT_LAMBDA {
        const std::uint64_t head = site.head.load(std::memory_order_relaxed);
        if (is_no_head(head)) [[unlikely]] {
            record_slowly<Ts...>(nullptr, marked_head(site, Kind::kStream), site, args...);
        } else {
            record_captured(head, site, args...);
        }
    };
    if constexpr (sizeof...(Pushed) == 0) {
        use();
    } else {
        with_qt_arguments<kWay, sizeof...(Pushed), 0>(written, use, pieces...);
    }
}

template <class... Pushed>
SP_DETAIL_HOT void record_qt_typed(QtPlace& place, const Pushed&... pieces) {
    if (place.shape.load(std::memory_order_acquire) != &kQtShape<Pushed...> ||
        !are_these_qt_literals(place.site, pieces...) || !(shows_alike_in_qt(pieces) && ...)) [[unlikely]] {
        static constexpr QtShape kShape = QtShape::of<QtWay::kTyped, Pushed...>();
        const std::array<QtAny, sizeof...(Pushed)> all{QtAny::of(pieces)...};
        if (!is_ready_for_typed_qt(place, kShape, all)) return;
    }
    record_qt_pieces<QtWay::kTyped>(place.site.site, nullptr, pieces...);
}

template <QtWay kWay, class... Pushed>
SP_DETAIL_HOT void record_qt_written(QtPlace& place, const QtWritten& written, QtAll all,
                                     const Pushed&... pieces) {
    static constexpr QtShape kShape = QtShape::of<kWay, Pushed...>();
    if (is_ready_for_written_qt(place, kShape, written, all))
        record_qt_pieces<kWay>(place.site.site, &written, pieces...);
}

SP_DETAIL_END
