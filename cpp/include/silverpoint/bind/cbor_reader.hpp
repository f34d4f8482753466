// CBOR (RFC 8949) from memory: one item a call, of definite or indefinite length. Several items make a
// sequence. Tags that do not concern a number's size are skipped.
#pragma once

#include <limits>

#include "cbor_writer.hpp"
#include "input.hpp"
#include "number_text.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wstringop-overread"  // g++ 12 takes names of members for too short
#endif

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// Thread-safe: one thread at a time. Cost: reads where the bytes stand; it allocates only for an error.
class CborReader : public binding::Input {
  public:
    using Kind = BindError::Kind;

    // The bytes must live as long as the reader.
    explicit CborReader(std::string_view bytes, const ReadOptions& options = {}) : Input(bytes, options) {}

    bool more() const { return at_ != end_; }
    BindResult finish() {
        if (more()) fail(Kind::kTrailing, at_, "the end of the input");
        return finish_value();
    }

    // --- What read.hpp asks of a format.

    struct State {
        std::uint64_t left = 0;
        bool is_open = false;  // of indefinite length
        std::size_t count() const { return left; }
    };

    // Major type and number of an item.
    struct Head {
        unsigned major = 0;
        unsigned info = 0;  // 31: indefinite
        std::uint64_t number = 0;
        const char* end = nullptr;  // null: no complete item
    };
    [[gnu::always_inline]] Head head(const char* p) const {
        if (p == end_) return {};
        const auto byte = static_cast<unsigned char>(*p++);
        Head out{static_cast<unsigned>(byte) >> 5, byte & 31u, byte & 31u, p};
        if (out.info < 24) return out;
        return long_head(out, p);
    }

    [[gnu::noinline, gnu::cold]] bool fail(Kind kind, const char* at, std::string expected) {
        if (at >= end_) return fail(Kind::kTruncated, end_, "the end of the input", std::move(expected));
        const auto byte = static_cast<unsigned char>(*at);
        const Head head = this->head(at);
        const bool is_no_item = (byte & 31u) > 27 && (head.end == nullptr || byte == 0xFF);
        if (is_no_item || kind == Kind::kSyntax) return fail(Kind::kSyntax, at, shown(*at), "a value");
        if (head.end == nullptr) return fail(Kind::kTruncated, end_, "the end of the input", "a value");
        std::string found = kind == Kind::kTrailing ? shown(*at) : describe(at);
        return fail(kind, at, std::move(found), std::move(expected));
    }
    static std::string shown(char c) {
        const auto byte = static_cast<unsigned char>(c);
        return std::string("the byte 0x") + "0123456789abcdef"[byte >> 4] + "0123456789abcdef"[byte & 15];
    }
    [[gnu::noinline, gnu::cold]] bool fail(Kind kind, const char* at, std::string found,
                                           std::string expected) {
        set_error(kind, at, std::move(found), std::move(expected));
        return false;
    }

    bool null() {
        // Another item keeps its tags: they make a bignum of bytes.
        const char* const from = at_;
        skip_tags();
        if (at_ == end_ || (*at_ != '\xF6' && *at_ != '\xF7')) return at_ = from, false;
        ++at_;
        return true;
    }
    bool boolean(bool& value) {
        skip_tags();
        if (at_ == end_ || (*at_ != '\xF5' && *at_ != '\xF4')) return fail(Kind::kType, at_, "true or false");
        value = *at_++ == '\xF5';
        return true;
    }
    bool is_text() { return next_major() == 3; }
    bool is_bytes() { return next_major() == 2; }
    bool is_number() { return next_major() <= 1; }
    bool is_array() { return next_major() == 4; }
    bool is_map() { return next_major() == 5; }

    bool raw(Raw& value);

    template <class T>
    bool integer(T& value) {
        const char* const from = at_;
        Head item = head(at_);
        if (item.major == 6) [[unlikely]] {
            while (item.end != nullptr && item.major == 6 && item.number != 2 && item.number != 3)
                item = head(at_ = item.end);
            if (item.end != nullptr && item.major == 6) return bignum(value, item);
        }
        if (item.end == nullptr || item.major > 1)
            return fail(Kind::kType, from, binding::expected_integer<T>());
        return fits(value, from, item.end, item.major == 1, binding::UInt128{item.number} + item.major);
    }
    template <class T>
    bool real(T& value) {
        if (at_ != end_ && *at_ == '\xFA' && left() >= 5) [[likely]] {
            std::uint32_t bits;
            __builtin_memcpy(&bits, at_ + 1, 4);
            bits = __builtin_bswap32(bits);
            float number;
            __builtin_memcpy(&number, &bits, 4);
            at_ += 5;
            return value = static_cast<T>(number), true;
        }
        if (at_ != end_ && (static_cast<unsigned char>(*at_) >> 5) == 6) [[unlikely]] {
            const char* const from = at_;
            const std::uint64_t tag = take_tags();
            if ((tag == 2 || tag == 3) && next_major() == 2) {
                std::string_view bytes;
                binding::UInt128 magnitude = 0;
                if (!string(bytes, 2, "a number")) return false;
                if (!magnitude_of(bytes, tag == 3, magnitude)) return fail(Kind::kRange, from, "a number");
                return value = tag == 3 ? -static_cast<T>(magnitude) : static_cast<T>(magnitude), true;
            }
        }
        const Head item = head(at_);
        if (item.end != nullptr && item.major == 7 && item.info >= 25 && item.info <= 27) [[likely]] {
            at_ = item.end;
            if (item.info == 26) {
                const auto bits = static_cast<std::uint32_t>(item.number);
                float number;
                __builtin_memcpy(&number, &bits, 4);
                value = static_cast<T>(number);
            } else if (item.info == 27) {
                double number;
                __builtin_memcpy(&number, &item.number, 8);
                value = static_cast<T>(number);
            } else {
                value = static_cast<T>(half(static_cast<unsigned>(item.number)));
            }
            return true;
        }
        if (item.end != nullptr && item.major <= 1) {
            const auto magnitude = static_cast<T>(binding::UInt128{item.number} + item.major);
            value = item.major == 0 ? magnitude : -magnitude;
            at_ = item.end;
            return true;
        }
        const char* const from = at_;
        if (null()) return value = std::numeric_limits<T>::quiet_NaN(), true;
        if (item.end != nullptr && item.major == 3) {
            std::string_view name;
            if (!string(name, 3, "text")) return false;
            return binding::not_finite(name, value) || fail(Kind::kType, from, "a number");
        }
        return fail(Kind::kType, at_, "a number");
    }
    // Good until the next text is read.
    bool text(std::string_view& text) {
        skip_tags();
        return string(text, 3, "text");
    }
    bool bytes(std::string_view& bytes) { return string(bytes, 2, "bytes"); }
    // Where the next value begins.
    const char* start() const { return at_; }
    const char* end_of_map() const { return at_; }

    bool enter_array(State& state) { return enter(state, 4, "an array"); }
    bool enter_map(State& state) { return enter(state, 5, "an object"); }
    [[gnu::always_inline]] bool next_element(State& state) {
        if (!state.is_open) {
            if (state.left == 0) return --depth_, false;
            --state.left;
            return at_ != end_ || fail(Kind::kTruncated, at_, "a value");
        }
        if (at_ == end_) return fail(Kind::kTruncated, at_, "a value");
        if (*at_ != '\xFF') return true;
        ++at_;
        --depth_;
        return false;
    }
    bool next_member(State& state) { return next_element(state); }
    bool key(std::string_view& key) {
        skip_tags();
        return string(key, 3, "text");
    }
    bool behind_key() { return true; }
    template <class T, std::size_t kIndex>
    [[gnu::always_inline]] bool next_is(State& state) {
        using Key = binding::CborKey<T, kIndex>;
        constexpr std::size_t size = Key::kSize - Key::kBefore;
        if (left() < size || (!state.is_open && state.left == 0) ||
            __builtin_memcmp(at_, Key::kText.text + Key::kBefore, size) != 0)
            return false;
        if (!state.is_open) --state.left;
        at_ += size;
        return true;
    }
    bool skip() {
        skip_tags();
        const char* const from = at_;
        const Head item = head(at_);
        if (item.end == nullptr) return fail(Kind::kSyntax, at_, "a value");
        State state;
        std::size_t index = 0;
        std::string_view unused;
        switch (item.major) {
            case 0:
            case 1:
                return at_ = item.end, true;
            case 2:
                return string(unused, 2, "bytes");
            case 3:
                return string(unused, 3, "a text");
            case 4:
                if (!enter_array(state)) return false;
                for (; next_element(state); ++index)
                    if (!skip()) return within(index);
                return !failed();
            case 5:
                if (!enter_map(state)) return false;
                for (; next_element(state); ++index)
                    if (!skip() || !skip()) return within(index);
                return !failed();
            default:
                if (item.info == 31 || item.info < 20 || item.info == 24)
                    return fail(Kind::kSyntax, from, "a value");
                at_ = item.end;
                return true;
        }
    }
    // The half-precision float of these bits.
    static double half(unsigned bits) {
        const unsigned exponent = bits >> 10 & 31, fraction = bits & 0x3FF;
        const double magnitude = exponent == 0 ? std::ldexp(fraction, -24)
                                 : exponent != 31
                                     ? std::ldexp(fraction + 1024, static_cast<int>(exponent) - 25)
                                 : fraction == 0 ? std::numeric_limits<double>::infinity()
                                                 : std::numeric_limits<double>::quiet_NaN();
        return (bits & 0x8000) != 0 ? -magnitude : magnitude;
    }
    // Skips tags. Returns the number of the innermost one, or 0, which has no meaning here.
    std::uint64_t take_tags() {
        std::uint64_t tag = 0;
        for (Head item = head(at_); item.end != nullptr && item.major == 6; item = head(at_))
            tag = item.number, at_ = item.end;
        return tag;
    }
    // Skips tags.
    [[gnu::always_inline]] void skip_tags() {
        if (at_ != end_ && (static_cast<unsigned char>(*at_) >> 5) == 6) [[unlikely]]
            skip_some_tags();
    }

  private:
    [[gnu::noinline]] Head long_head(Head out, const char* p) const {
        const std::size_t size = out.info <= 27 ? std::size_t{1} << (out.info - 24) : 0;
        if (out.info == 31 && out.major != 0 && out.major != 1 && out.major != 6) return out;
        if (size == 0 || static_cast<std::size_t>(end_ - p) < size) return {out.major, out.info, 0, nullptr};
        out.number = 0;
        for (std::size_t i = 0; i < size; ++i)
            out.number = out.number << 8 | static_cast<unsigned char>(p[i]);
        out.end = p + size;
        return out;
    }
    [[gnu::noinline]] void skip_some_tags() {
        for (Head item = head(at_); item.end != nullptr && item.major == 6; item = head(at_)) at_ = item.end;
    }
    // 8: none.
    unsigned next_major() {
        skip_tags();
        return at_ == end_ ? 8 : static_cast<unsigned char>(*at_) >> 5;
    }
    bool enter(State& state, unsigned major, const char* what) {
        skip_tags();
        const Head item = head(at_);
        if (item.end == nullptr || item.major != major) return fail(Kind::kType, at_, what);
        if (++depth_ > options_.depth)
            return fail(Kind::kDepth, at_, "a deeper level",
                        "at most " + std::to_string(options_.depth) + " levels");
        state.is_open = item.info == 31;
        state.left = state.is_open ? 0 : item.number;
        at_ = item.end;
        return true;
    }
    template <class T>
    bool fits(T& value, const char* from, const char* end, bool negative, binding::UInt128 magnitude) {
        if (magnitude > binding::most<T>(negative))
            return fail(Kind::kRange, from, binding::expected_integer<T>());
        const auto all = static_cast<binding::UnsignedOf<T>>(magnitude);
        value = static_cast<T>(negative ? binding::UnsignedOf<T>{0} - all : all);
        at_ = end;
        return true;
    }
    // Tags 2 and 3: bytes that are the number, the highest first.
    template <class T>
    [[gnu::noinline]] bool bignum(T& value, const Head& tag) {
        const char* const from = at_;
        const bool negative = tag.number == 3;
        at_ = tag.end;
        std::string_view bytes;
        if (!string(bytes, 2, "the bytes of a bignum")) return false;
        binding::UInt128 magnitude = 0;
        if (!magnitude_of(bytes, negative, magnitude))
            return fail(Kind::kRange, from, binding::expected_integer<T>());
        return fits(value, from, at_, negative, magnitude);
    }
    // The distance from zero of a bignum with these bytes. False: beyond 128 bits.
    static bool magnitude_of(std::string_view bytes, bool negative, binding::UInt128& magnitude) {
        while (!bytes.empty() && bytes[0] == '\0') bytes.remove_prefix(1);
        if (bytes.size() > 16) return false;
        magnitude = 0;
        for (const char byte : bytes) magnitude = magnitude << 8 | static_cast<unsigned char>(byte);
        return !negative || ++magnitude != 0;
    }
    [[gnu::always_inline]] bool string(std::string_view& text, unsigned major, const char* what) {
        const Head item = head(at_);
        if (item.end == nullptr || item.major != major) return fail(Kind::kType, at_, what);
        if (item.info == 31) [[unlikely]]
            return fail(Kind::kSyntax, at_, "a value");
        return piece(text, item, major);
    }
    bool piece(std::string_view& text, const Head& item, unsigned major) {
        if (item.number > static_cast<std::uint64_t>(end_ - item.end))
            return fail(Kind::kTruncated, end_, "a value");
        text = {item.end, static_cast<std::size_t>(item.number)};
        if (major == 3) {
            const std::size_t good = binding::utf8_prefix(text.data(), text.size());
            if (good != text.size()) [[unlikely]]
                return fail(Kind::kText, item.end + good, shown(item.end[good]), "UTF-8");
        }
        at_ = item.end + item.number;
        return true;
    }
    std::string describe(const char* at) const {
        if (at >= end_) return "the end of the input";
        const Head item = head(at);
        if (item.end == nullptr) return item.info > 27 ? shown(*at) : "an item that is cut";
        char room[64];
        switch (item.major) {
            case 0:
            case 1: {
                const auto number = static_cast<binding::Int128>(item.number);
                return "the number " +
                       std::string(room, binding::put_integer(room, item.major == 0 ? number : -1 - number));
            }
            case 2:
                return "bytes";
            case 3:
                if (item.info == 31 || item.number > static_cast<std::uint64_t>(end_ - item.end))
                    return "text";
                return "the text " + binding::quoted({item.end, static_cast<std::size_t>(item.number)});
            case 4:
                return "an array";
            case 5:
                return "an object";
            case 6:
                return describe_tagged(at, item);
            default:
                break;
        }
        if (item.info >= 25 && item.info <= 27) {
            CborReader number(std::string_view(at, static_cast<std::size_t>(item.end - at)));
            double value = 0;
            (void)number.real(value);
            if (!std::isfinite(value)) return value != value ? "NaN" : "an infinite number";
            const bool is_single = item.info == 26;
            return "the number " + std::string(room, is_single
                                                         ? binding::put_float(room, static_cast<float>(value))
                                                         : binding::put_float(room, value));
        }
        return item.info == 20                      ? "false"
               : item.info == 21                    ? "true"
               : item.info == 22 || item.info == 23 ? "null"
                                                    : shown(*at);
    }
    std::string describe_tagged(const char* at, Head tag) const {
        if (tag.number == 2 || tag.number == 3) return describe_bignum(tag.number == 3, head(tag.end));
        for (; tag.end != nullptr && tag.major == 6; tag = head(at)) at = tag.end;
        return describe(at);
    }
    std::string describe_bignum(bool negative, const Head& bytes) const {
        const bool is_whole = bytes.end != nullptr && bytes.major == 2 && bytes.info != 31 &&
                              bytes.number <= static_cast<std::uint64_t>(end_ - bytes.end);
        binding::UInt128 magnitude = 0;
        if (!is_whole ||
            !magnitude_of({bytes.end, static_cast<std::size_t>(bytes.number)}, negative, magnitude) ||
            magnitude > binding::most<binding::Int128>(negative))
            return "a bignum";
        char room[64];
        const auto value = static_cast<binding::Int128>(negative ? 0 - magnitude : magnitude);
        return "the number " + std::string(room, binding::put_integer(room, value));
    }
};

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

#if defined(__GNUC__) && !defined(__clang__)
#    pragma GCC diagnostic pop
#endif
