// Streams: `SP_DEBUG << "pos" << x << y` builds a type, not a text. Literals go to the site once, only values
// go to the ring.
//
// A literal is a character array in read-only memory, in UTF-8, with the address with which the site was
// completed. Anything else of that type is text, recorded by a second site of the same place.
#pragma once

#include "record.hpp"

SP_DETAIL_BEGIN

// The two sites of a stream: with literals in the template, or as text.
struct StreamSite {
    Site site;
    Site as_text;
    // Addresses of the literals with which the first was completed: valid if its head is not 0. Only the
    // thread that has `claimed` writes them.
    static constexpr unsigned kLiteralsMax = 16;
    std::atomic<const char*> literals[kLiteralsMax] = {};
    // The process whose thread completes the first; 0: none. A forked child does not continue what its parent
    // has begun.
    std::atomic<std::uint32_t> claimed{0};
    // The literal that was last found to be none, so that it is not searched again.
    std::atomic<const char*> refused{nullptr};

    constexpr StreamSite(Level level, const char* file, std::uint32_t line)
        : site(level, file, line), as_text(level, file, line) {}
};

// The value behind an address that a macro holds.
template <class Place>
SP_DETAIL_HOT Place& place_at(void* place) {
    return *static_cast<Place*>(place);
}
SP_DETAIL_HOT StreamSite& stream_site(void* place) { return *static_cast<StreamSite*>(place); }

// (Its length is no part of the type: statements that differ in their literals alone share their code.)
struct SP_DETAIL_VISIBLE Literal {
    const char* text;
    std::size_t size;  // of the array: there need be no zero in it

    std::string_view view() const { return {text, ::strnlen(text, size)}; }
};

template <class T>
inline constexpr bool kIsLiteral = std::same_as<T, Literal>;

// The pieces of a stream: nested pairs, so that << builds the type. Numbers are held by value, so that a
// variable that is recorded may stay in a register.
struct SP_DETAIL_VISIBLE Nothing {};

template <class Before, class Piece>
struct SP_DETAIL_VISIBLE Stream {
    StreamSite& site;
    Before before;
    Piece piece;

    template <std::size_t Length>
    SP_DETAIL_HOT Stream<Stream, Literal> operator<<(const char (&text)[Length]) const {
        return {site, *this, {text, Length}};
    }
    template <class T>
        requires(Small<T>)
    SP_DETAIL_HOT Stream<Stream, T> operator<<(T value) const {
        return {site, *this, value};
    }
    template <class T>
        requires(!Small<T>)
    SP_DETAIL_HOT Stream<Stream, typename Passed<std::remove_volatile_t<T>>::type> operator<<(
        const T& value) const {
        return {site, *this, value};
    }
};

// Calls visit with all pieces, in order.
template <class Visit, class... Later>
SP_DETAIL_HOT decltype(auto) with_pieces(const Nothing&, Visit&& visit, const Later&... later) {
    return visit(later...);
}
template <class Before, class Piece, class Visit, class... Later>
SP_DETAIL_HOT decltype(auto) with_pieces(const Stream<Before, Piece>& stream, Visit&& visit,
                                         const Later&... later) {
    return with_pieces(stream.before, visit, stream.piece, later...);
}

// The template of a stream: literals with their braces doubled, {} for values, one space between.
class StreamText {
  public:
    void literal(std::string_view text) {
        space();
        for (const char c : text) {
            put(c);
            if (c == '{' || c == '}') put(c);
        }
    }
    void value() {
        space();
        put('{');
        put('}');
    }
    std::string_view text() const { return {text_, len_}; }
    // Something did not fit.
    bool is_cut() const { return cut_; }

  private:
    void space() {
        if (len_ > 0) put(' ');
    }
    void put(char c) {
        if (len_ < sizeof text_) {
            text_[len_++] = c;
        } else {
            cut_ = true;
        }
    }
    char text_[2048];
    std::size_t len_ = 0;
    bool cut_ = false;
};

// Records the values among the pieces.
struct Emit {
    Site& site;
    std::uint64_t head;

    // Handles the first piece `Left` times: a value goes to the end of the list, a literal is removed.
    template <std::size_t Left, class First, class... Rest>
    SP_DETAIL_HOT void go(const First& first, const Rest&... rest) const {
        if constexpr (Left == 0) {
            record_captured(head, site, Capture<First>::of(first), Capture<Rest>::of(rest)...);
        } else if constexpr (!kIsLiteral<First>) {
            go<Left - 1>(rest..., first);
        } else if constexpr (sizeof...(Rest) == 0) {
            record_captured(head, site);
        } else {
            go<Left - 1>(rest...);
        }
    }
};

template <class... Pieces>
SP_DETAIL_HOT bool are_known_literals(const StreamSite& site, const Pieces&... pieces) {
    unsigned number = 0;
    bool same = true;
    const auto look = [&](const auto& piece) SP_DETAIL_HOT_LAMBDA {
        if constexpr (kIsLiteral<std::remove_cvref_t<decltype(piece)>>) {
            same = same && number < StreamSite::kLiteralsMax &&
                   site.literals[number].load(std::memory_order_relaxed) == piece.text;
            ++number;
        }
    };
    (look(pieces), ...);
    return same;
}

// Whether these can be in the template of a site: literals in read-only memory, in UTF-8, not too many. Makes
// the template.
SP_DETAIL_COLD bool make_stream_text(StreamSite& site, StreamText& text, const Literal* pieces,
                                     std::size_t count) {
    const char* const refused = site.refused.load(std::memory_order_relaxed);
    unsigned literals = 0;
    for (const Literal* piece = pieces; piece != pieces + count; ++piece) {
        if (piece->text == nullptr) {
            text.value();
        } else if (++literals > StreamSite::kLiteralsMax || piece->text == refused) {
            return false;
        } else if (!is_read_only(piece->text) || utf8_prefix(piece->view()) != piece->view().size()) {
            site.refused.store(piece->text, std::memory_order_relaxed);
            return false;
        } else {
            text.literal(piece->view());
        }
    }
    return !text.is_cut();
}

// Whether the literals are those with which the first site is complete, or (then with `text`) will be by this
// record.
//
// Only one thread completes it. Otherwise two threads with two literals could do so at the same time. Each
// would write its own, and one literal would be shown for the other from then on. The second thread waits a
// moment. It does not wait long, since it may be a signal handler's within the first.
SP_DETAIL_COLD bool begin_stream(StreamSite& site, StreamText& text, const Literal* pieces,
                                 std::size_t count) {
    if (site.site.whole.load(std::memory_order_acquire) == 0) {
        if (!make_stream_text(site, text, pieces, count)) return false;
        const auto self = process_id();
        std::uint32_t claimer = site.claimed.load(std::memory_order_acquire);
        if (claimer != self &&
            site.claimed.compare_exchange_strong(claimer, self, std::memory_order_acq_rel)) {
            unsigned number = 0;
            for (const Literal* piece = pieces; piece != pieces + count; ++piece)
                if (piece->text != nullptr)
                    site.literals[number++].store(piece->text, std::memory_order_relaxed);
            return true;
        }
        for (int i = 0; i < 1000 && site.site.whole.load(std::memory_order_acquire) == 0; ++i)
            pause_processor();
        if (site.site.whole.load(std::memory_order_acquire) == 0) return false;
    }
    unsigned number = 0;
    for (const Literal* piece = pieces; piece != pieces + count; ++piece)
        if (piece->text != nullptr &&
            (number == StreamSite::kLiteralsMax ||
             site.literals[number++].load(std::memory_order_relaxed) != piece->text))
            return false;
    return true;
}

// A literal that is in the site's template, as an argument.
struct InTemplate {};
template <>
struct Codec<InTemplate> {
    static constexpr std::size_t fixed = 0;
    static constexpr void sign(Signer&) {}
    static char* put(char* out, const InTemplate&) { return out; }
};
// A piece as the cold path has it.
template <class T>
struct StreamPiece {
    using InValues = T;
    using InText = T;
    static Literal literal(const T&) { return {nullptr, 0}; }
    static decltype(auto) capture(const T& value) { return Capture<T>::of(value); }
};
template <>
struct StreamPiece<Literal> {
    using InValues = InTemplate;
    using InText = std::string_view;
    static Literal literal(const Literal& piece) { return piece; }
    static TextRef<char> capture(const Literal& piece) { return {piece.text, piece.view().size()}; }
};
// The types of a stream's pieces: with literals in the template, or as text.
struct StreamTypes {
    Signed values, text;
};
template <class... Pieces>
inline constexpr StreamTypes kStreamTypes{kSigned<typename StreamPiece<Pieces>::InValues...>,
                                          kSigned<typename StreamPiece<Pieces>::InText...>};

// The pieces of a stream without their types. `literals` are null where `all` has values.
struct StreamPieces {
    const StreamTypes& types;
    const Literal* literals;
    AnyArguments all;

    // Those that are values, in the place of all.
    AnyArguments values() const {
        AnyArgument* out = all.first;
        for (std::size_t i = 0; i < all.count; ++i)
            if (literals[i].text == nullptr) *out++ = all.first[i];
        return {all.first, static_cast<std::size_t>(out - all.first)};
    }
};

// Records the values, if the literals are in the template. (A signal handler's stack may be small: the text
// of one way is gone before the other begins.)
SP_DETAIL_COLD bool record_values(const Entry& entry, StreamSite& site, void* caller,
                                  const StreamPieces& pieces) {
    StreamText text;
    if (!begin_stream(site, text, pieces.literals, pieces.all.count)) return false;
    record_coldly(entry, site.site, Kind::kStream, text.text(), pieces.types.values, caller, pieces.values());
    // There was no room for it: the next record tries again.
    if (site.site.whole.load(std::memory_order_relaxed) == 0)
        site.claimed.store(0, std::memory_order_release);
    return true;
}
SP_DETAIL_COLD void record_as_text(const Entry& entry, StreamSite& site, void* caller,
                                   const StreamPieces& pieces) {
    if (!site.as_text.is_wanted(site.site.function.load(std::memory_order_relaxed),
                                site.site.category.load(std::memory_order_relaxed)))
        return;
    StreamText text;
    for (std::size_t i = 0; i < pieces.all.count; ++i) text.value();
    record_coldly(entry, site.as_text, Kind::kStream, text.text(), pieces.types.text, caller, pieces.all);
}

// The first record of a stream, and every record whose literals differ from the registered ones.
template <class... Pieces>
SP_DETAIL_COLD void record_unusual_stream(StreamSite& site, typename Passed<Pieces>::type... pieces) {
    const Entry entry{nullptr, stack_mark(SP_DETAIL_FRAME_ADDRESS())};
    const Literal literals[] = {StreamPiece<Pieces>::literal(pieces)...};
    const auto record_all = [&, caller = SP_DETAIL_RETURN_ADDRESS()](const auto&... captured) {
        AnyArgument all[] = {AnyArgument::of(captured)...};
        const StreamPieces all_pieces{kStreamTypes<Pieces...>, literals, {all, sizeof...(Pieces)}};
        if (!record_values(entry, site, caller, all_pieces)) record_as_text(entry, site, caller, all_pieces);
    };
    record_all(StreamPiece<Pieces>::capture(pieces)...);
}

template <class Before, class Piece>
SP_DETAIL_HOT void record_stream(const Stream<Before, Piece>& stream) {
    StreamSite& site = stream.site;
    with_pieces(stream, [&site](const auto&... pieces) SP_DETAIL_HOT_LAMBDA {
        const std::uint64_t head = site.site.head.load(std::memory_order_acquire);
        if (!is_no_head(head) && are_known_literals(site, pieces...)) [[likely]] {
            Emit{site.site, head}.template go<sizeof...(pieces)>(pieces...);
        } else {
            record_unusual_stream<std::remove_cvref_t<decltype(pieces)>...>(site, pieces...);
        }
    });
}

SP_DETAIL_END
