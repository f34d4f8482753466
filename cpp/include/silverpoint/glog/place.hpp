// The place where a message is logged: its sites, and how one becomes complete.
#pragma once

#include "../detail/packed_bytes.hpp"
#include "route.hpp"

namespace google::glog_internal_namespace_ {

// Pieces of a message whose types are known at compile time: their codes. Values as in signatures
// (spec/wire.md), and
inline constexpr char kLiteral = '"';      // a literal
inline constexpr char kManipulator = '*';  // sets how the next values are written; may write a character
// Later ones are text.
inline constexpr std::size_t kPiecesMost = 24;

constexpr bool is_value(char code) { return code != kLiteral && code != kManipulator; }

// A message that is packed: what a record of the first site holds.
struct Pieces {
    const char* codes;  // kPiecesMost of them, zero behind the last
    std::size_t count;
    const char* const* literals;  // by number of the literal
    const Look* looks;            // by number of the piece
    std::uint32_t looked;         // bits: pieces whose look is not the plain one
    const char* packed;
    std::size_t size;

    const Look& look(std::size_t piece) const {
        static constexpr Look kPlain;
        return (looked >> piece & 1) != 0 ? looks[piece] : kPlain;
    }
};

// Appends the message as text: of the first `count` pieces.
inline void append_text(std::string& out, const Pieces& pieces, std::size_t count) {
    Arguments arguments(pieces.packed, pieces.size);
    std::size_t literal = 0;
    for (std::size_t i = 0; i < count && i < pieces.count; ++i) {
        const char code = pieces.codes[i];
        const Look& look = pieces.look(i);
        if (code == kLiteral) {
            put_text(out, pieces.literals[literal++], look);
        } else if (code == kManipulator) {
            if (look.base != 0) out += look.base;
        } else if (!arguments.put(out, code, look)) {
            return;
        }
    }
}

}  // namespace google::glog_internal_namespace_

namespace google {
namespace glog_internal_namespace_ SP_DETAIL_HIDDEN {

namespace sp = silverpoint::detail;

// A place in the source has two sites. The first has typed arguments, and literals are part of its template.
// The second has the message as one text. It is for messages that differ from the first one (other literals,
// other manipulators), and for those that are text from the beginning.
struct Place {
    sp::Site site;
    sp::Site as_text;
    // For the console only: no file gets it.
    sp::Site console;
    std::atomic<const char*> literals[kPiecesMost] = {};
    // The pieces with which it was completed, eight a word.
    std::atomic<std::uint64_t> codes[kPiecesMost / 8] = {};
    // The combined looks of the pieces.
    std::atomic<std::uint64_t> looks{0};
    // VLOG's number is a field of its records.
    bool has_verbosity;

    constexpr Place(silverpoint::Level level, const char* file, std::uint32_t line, bool verbosity = false)
        : site(level, file, line),
          as_text(level, file, line),
          console(level, file, line),
          has_verbosity(verbosity) {}
};

// Completes the first site by this message: its template, names and signature.
SP_DETAIL_COLD bool complete_place(Place& place, const Pieces& pieces, std::uint64_t looks) {
    std::string text, signature, names;
    std::size_t literal = 0;
    for (std::size_t i = 0; i < pieces.count; ++i) {
        const char code = pieces.codes[i];
        const Look& look = pieces.look(i);
        if (is_value(code)) {
            signature += code;
            text += '{';
            if (code == 'd' || code == 'f' || code == 'b' || (pieces.looked >> i & 1) != 0)
                if (!append_spec(text, code, look)) return false;
            text += '}';
            continue;
        }
        std::string piece;
        if (code == kManipulator) {
            if (look.base != 0) piece = look.base;
        } else {
            const char* const address = pieces.literals[literal];
            if (!sp::is_read_only(address)) return false;
            place.literals[literal++].store(address, std::memory_order_relaxed);
            put_text(piece, address, look);
        }
        for (const char c : piece) text.append(c == '{' || c == '}' ? 2 : 1, c);
    }
    // The line's end is no part of the message (see ends_with_literal).
    if (ends_with_literal(text) && !text.empty() && text.back() == '\n') text.pop_back();
    if (place.has_verbosity) {
        names.append(signature.size(), '\n').append("verbosity\n");
        signature += 'i';
    }
    if (text.size() > 2000 || !is_utf8(text)) return false;
    place.looks.store(looks, std::memory_order_relaxed);
    for (std::size_t i = 0; i < kPiecesMost / 8; ++i) {
        std::uint64_t word;
        std::memcpy(&word, pieces.codes + i * 8, 8);
        place.codes[i].store(word, std::memory_order_relaxed);
    }
    return place.site.complete(sp::Kind::kStream, names, text, signature, 0);
}

// Whether a message has the same form as the one that completed the place.
SP_DETAIL_HOT bool is_as_completed(const Place& place, const char* codes, const char* const* literals,
                                   std::size_t count, std::uint64_t looks) {
    bool same = place.looks.load(std::memory_order_relaxed) == looks;
    for (std::size_t i = 0; i < kPiecesMost / 8; ++i) {
        std::uint64_t word;
        __builtin_memcpy(&word, codes + i * 8, 8);
        same &= place.codes[i].load(std::memory_order_relaxed) == word;
    }
    for (std::size_t i = 0; i < count; ++i)
        same &= place.literals[i].load(std::memory_order_relaxed) == literals[i];
    return same;
}

// Completes a site of messages as text, where that is to be done; false: there is no room for it.
SP_DETAIL_COLD bool is_complete_as_text(sp::Site& site) {
    return site.whole.load(std::memory_order_acquire) != 0 ||
           sp::complete_site<std::string_view>(site, sp::Kind::kStream, {}, "{}") != 0;
}

// The record of a message as text, by one of the place's sites.
SP_DETAIL_COLD bool record_text(sp::Site& site, const char* category, std::string_view text,
                                const char* function) {
    if (!site.is_on(function, category) || !is_complete_as_text(site)) return false;
    const std::uint64_t head = site.whole.load(std::memory_order_acquire);
    sp::record_captured(head, site, sp::TextRef<char>{text.data(), text.size()});
    return true;
}

// Longer ones go as text, which may be cut.
inline constexpr std::size_t kTypedMost = 8000;

// Whether a packed message has the form of the place's first site, which is completed by the first such
// message. If not, it goes as text.
SP_DETAIL_COLD bool is_typed(Place& place, const Pieces& pieces, std::size_t literals, std::uint64_t looks) {
    if (pieces.size > kTypedMost) return false;
    if (place.site.whole.load(std::memory_order_acquire) == 0 && !complete_place(place, pieces, looks))
        return false;
    return is_as_completed(place, pieces.codes, pieces.literals, literals, looks);
}
// The record of one that has.
SP_DETAIL_COLD void record_unusual(Place& place, const Pieces& pieces) {
    // (The head comes back when no tracer is asked for any more.)
    sp::marked_head(place.site, sp::Kind::kStream);
    sp::record_captured(place.site.whole.load(std::memory_order_acquire), place.site,
                        sp::PackedBytes{pieces.packed, pieces.size});
}

// Whether the ring wants a record of a site whose state is neither off nor on. A system tracer may want the
// message, too: so it is asked each time, and the site has no head then.
[[gnu::noinline]] inline bool is_on_otherwise(sp::Site& site, std::uint8_t value, const char* function,
                                              const char* category) {
    site.is_wanted_otherwise(value, function, category);
    return (site.state_byte() & 0x81) == 1;
}
SP_DETAIL_HOT bool is_on(sp::Site& site, const char* function, const char* category) {
    const std::uint8_t value = site.state_byte();
    if (value == 0) return false;
    if (value == 1) [[likely]]
        return true;
    return site.is_quiet(value) || is_on_otherwise(site, value, function, category);
}

// The events of a message for system tracers, which get it wherever else it goes. False: none wants it.
SP_DETAIL_COLD bool is_traced(sp::Site& site, const char* function, const char* category) {
    const std::uint8_t value = site.state_byte();
    if ((value & ~1u) == 0 || site.is_quiet(value)) return false;
    return site.is_wanted(function, category) && (site.state_byte() & sp::kProbedBit) != 0;
}
SP_DETAIL_COLD void trace_typed(const Place& place, const Pieces& pieces) {
    sp::write_probe(sp::probed_mark(sp::Kind::kStream), place.site, pieces.packed, pieces.size,
                    __builtin_return_address(0));
}
SP_DETAIL_COLD void trace_text(sp::Site& site, std::string_view text) {
    if (!is_complete_as_text(site)) return;
    // As long as a record may be.
    constexpr std::size_t most = sp::kRecordMax - 32;
    const bool is_cut = text.size() > most;
    if (is_cut) text = text.substr(0, most);
    sp::Scratch scratch;
    char* const out = scratch.fit(scratch.begin(), 4 + text.size());
    if (out == nullptr) return;
    sp::put_block(sp::put_length(out, text.size()), text.data(), text.size());
    sp::write_probe(sp::probed_mark(sp::Kind::kStream) | (is_cut ? sp::kTruncated : 0), site, out,
                    4 + text.size(), __builtin_return_address(0));
}

}  // namespace glog_internal_namespace_
}  // namespace google
