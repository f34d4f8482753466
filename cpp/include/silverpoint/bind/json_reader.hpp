// JSON (RFC 8259) from memory: one value a call; several may follow each other, white space between.
#pragma once

#include "input.hpp"
#include "json_writer.hpp"
#include "number_text.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wstringop-overread"  // g++ 12 takes names of members for too short
#endif

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// Thread-safe: one thread at a time. Cost: reads where the text stands; it allocates for texts with escapes,
// and for an error.
class JsonReader : public binding::Input {
  public:
    using Kind = BindError::Kind;

    // The text must live as long as the reader.
    explicit JsonReader(std::string_view text, const ReadOptions& options = {}) : Input(text, options) {}

    // Whether there is more than white space left.
    bool more() {
        space();
        return at_ != end_;
    }
    // That nothing is left.
    BindResult finish() {
        if (more()) fail(Kind::kTrailing, at_, "the end of the input");
        return finish_value();
    }

    // --- What read.hpp asks of a format.

    struct State {
        bool is_first = true;
        static constexpr std::size_t count() { return 0; }
    };

    [[gnu::noinline, gnu::cold]] bool fail(Kind kind, const char* at, std::string expected) {
        if (at >= end_) kind = Kind::kTruncated;
        const bool is_value = (kind != Kind::kSyntax && kind != Kind::kTrailing) || expected == "a value";
        if (const char* const broken = is_value ? binding::end_of_broken_number(at, end_) : nullptr) {
            kind = broken == end_ ? Kind::kTruncated : Kind::kSyntax;
            return fail(kind, broken, broken == end_ ? describe(broken) : binding::shown_byte(*broken),
                        "a value");
        }
        if (kind == Kind::kSyntax || kind == Kind::kTrailing)
            return fail(kind, at, binding::shown_byte(*at), std::move(expected));
        if (const char* const broken = broken_word(at)) {
            kind = broken == end_ ? Kind::kTruncated : Kind::kSyntax;
            return fail(kind, broken, broken == end_ ? describe(broken) : binding::shown_byte(*broken),
                        "a value");
        }
        return fail(kind, at, describe(at), std::move(expected));
    }
    [[gnu::noinline, gnu::cold]] bool fail(Kind kind, const char* at, std::string found,
                                           std::string expected) {
        if (error_ != nullptr) return false;
        set_error(kind, at, std::move(found), std::move(expected));
        error_->line = error_->column = 1;
        for (const char* from = begin_; from != at; ++from) {
            ++error_->column;
            if (*from == '\n') ++error_->line, error_->column = 1;
        }
        return false;
    }

    bool null() {
        space();
        if (left() < 4 || __builtin_memcmp(at_, "null", 4) != 0) return false;
        at_ += 4;
        return true;
    }
    bool boolean(bool& value) {
        space();
        if (left() >= 4 && __builtin_memcmp(at_, "true", 4) == 0) return at_ += 4, value = true;
        if (left() < 5 || __builtin_memcmp(at_, "false", 5) != 0)
            return fail(Kind::kType, at_, "true or false");
        at_ += 5;
        value = false;
        return true;
    }
    bool is_text() { return begins('"'); }
    bool is_array() { return begins('['); }
    bool is_map() { return begins('{'); }
    bool is_bytes() { return false; }
    bool is_number() {
        space();
        return at_ != end_ && (*at_ == '-' || binding::is_digit(*at_));
    }
    // The first byte of what comes next; 0: nothing.
    char next_mark() {
        space();
        return at_ == end_ ? '\0' : *at_;
    }
    bool raw(Raw& value);

    template <class T>
    bool integer(T& value) {
        space();
        const char* const from = at_;
        const char* const end = binding::parse_integer(from, end_, value);
        if (end == nullptr || (end != end_ && (*end == '.' || *end == 'e' || *end == 'E')) ||
            (end != end_ && binding::is_digit(*end)))
            return bad_integer<T>(from);
        at_ = end;
        return true;
    }
    template <class T>
    bool real(T& value) {
        space();
        if (at_ != end_ && *at_ == '"') return not_finite(value);
        const char* const from = at_;
        if (const char* const end = binding::parse_float(from, end_, value)) [[likely]] {
            if (end != end_ && binding::is_digit(*end)) [[unlikely]]
                return fail(Kind::kSyntax, from, "a value");
            at_ = end;
            return true;
        }
        if (null()) return value = std::numeric_limits<T>::quiet_NaN(), true;
        return fail(Kind::kType, from, "a number");
    }
    // Good until the next text is read.
    bool text(std::string_view& text) {
        space();
        if (at_ == end_ || *at_ != '"') return fail(Kind::kType, at_, "text");
        return string(text);
    }
    bool bytes(std::string_view& bytes) {
        const char* const from = start();
        std::string_view digits;
        if (at_ == end_ || *at_ != '"') return fail(Kind::kType, at_, "base64");
        if (!string(digits)) return false;
        std::string out;
        if (!binding::get_base64(digits, out)) return fail(Kind::kType, from, "base64");
        scratch_ = std::move(out);
        bytes = scratch_;
        return true;
    }
    // Where the next value begins.
    const char* start() {
        space();
        return at_;
    }
    const char* end_of_map() const { return at_ - 1; }

    bool enter_array(State& state) { return enter(state, '[', "an array"); }
    bool enter_map(State& state) { return enter(state, '{', "an object"); }
    // Whether there is one more; false also when something fails.
    bool next_element(State& state) { return next(state, ']', "',' or ']'"); }
    bool next_member(State& state) { return next(state, '}', "',' or '}'"); }
    bool key(std::string_view& key) {
        space();
        if (at_ == end_ || *at_ != '"') return fail(Kind::kSyntax, at_, "a name in quotes");
        return string(key) && behind_key();
    }
    // Skips a key that was read as a value.
    bool behind_key() {
        space();
        if (at_ == end_ || *at_ != ':') return fail(Kind::kSyntax, at_, "':'");
        ++at_;
        return true;
    }
    // Skips the name of a certain member, if it comes next.
    template <class T, std::size_t kIndex>
    [[gnu::always_inline]] bool next_is(State& state) {
        using Key = binding::JsonKey<T, kIndex>;
        constexpr std::size_t size = Key::kSize - 1;  // without what stands before it
        const char* p = at_;
        if (!state.is_first) {
            p = behind_space(p);
            if (p == end_ || *p != ',') return false;
            ++p;
        }
        p = behind_space(p);
        if (static_cast<std::size_t>(end_ - p) < size || __builtin_memcmp(p, Key::kText.text + 1, size) != 0)
            return false;
        state.is_first = false;
        at_ = p + size;
        return true;
    }
    // Skips a value, which must be valid.
    bool skip() {
        space();
        if (at_ == end_) return fail(Kind::kTruncated, at_, "a value");
        switch (*at_) {
            case '"': {
                std::string_view unused;
                return string(unused);
            }
            case '[': {
                State state;
                std::size_t index = 0;
                if (!enter_array(state)) return false;
                for (; next_element(state); ++index)
                    if (!skip()) return within(index);
                return !failed();
            }
            case '{': {
                State state;
                std::string_view name;
                if (!enter_map(state)) return false;
                while (next_member(state)) {
                    if (!key(name)) return false;
                    const std::string_view shown = name.substr(0, binding::kName);
                    const char* const at = shown.data();
                    if (at >= begin_ && at < end_) {
                        if (!skip()) return within(shown);
                    } else if (const std::string kept(shown); !skip()) {
                        return within(std::string_view(kept));
                    }
                }
                return !failed();
            }
            default: {
                std::string_view number;
                if (null() || this->number(number)) return true;
                bool unused;
                if (*at_ == 't' || *at_ == 'f') return boolean(unused);
                return fail(Kind::kSyntax, at_, "a value");
            }
        }
    }
    // The text of a number, if one stands here.
    bool number(std::string_view& text) {
        const char* const end = binding::end_of_number(at_, end_);
        if (end == nullptr || (end != end_ && binding::is_digit(*end))) return false;
        text = {at_, static_cast<std::size_t>(end - at_)};
        at_ = end;
        return true;
    }

  private:
    [[gnu::always_inline]] const char* behind_space(const char* p) const {
        while (p != end_ && static_cast<unsigned char>(*p) <= ' ') {
            if (*p != ' ' && *p != '\n' && *p != '\t' && *p != '\r') break;
            ++p;
        }
        return p;
    }
    [[gnu::always_inline]] void space() { at_ = behind_space(at_); }
    bool begins(char mark) {
        space();
        return at_ != end_ && *at_ == mark;
    }
    bool enter(State& state, char mark, const char* what) {
        space();
        if (at_ == end_ || *at_ != mark) return fail(Kind::kType, at_, what);
        if (++depth_ > options_.depth)
            return fail(Kind::kDepth, at_, "a deeper level",
                        "at most " + std::to_string(options_.depth) + " levels");
        ++at_;
        state.is_first = true;
        return true;
    }
    [[gnu::always_inline]] bool next(State& state, char mark, const char* what) {
        space();
        if (at_ != end_) {
            if (*at_ == mark) {
                ++at_;
                --depth_;
                return false;
            }
            if (state.is_first) return state.is_first = false, true;
            if (*at_ == ',') {
                ++at_;
                space();
                return true;
            }
        }
        return fail(Kind::kSyntax, at_, what);
    }

    // A text, at its quote.
    [[gnu::always_inline]] bool string(std::string_view& text) {
        const char* const from = at_ + 1;
        const char* p = from;
        p += binding::plain_prefix(p, static_cast<std::size_t>(end_ - p));
        if (p != end_ && *p == '"') [[likely]] {
            text = {from, static_cast<std::size_t>(p - from)};
            at_ = p + 1;
            return true;
        }
        return string_with_more(text, from, p);
    }
    // With what is not ASCII, and escapes.
    [[gnu::noinline]] bool string_with_more(std::string_view& text, const char* from, const char* p) {
        bool copies = false;
        while (true) {
            p += binding::plain_prefix(p, static_cast<std::size_t>(end_ - p));
            if (p == end_) return fail(Kind::kTruncated, p, "'\"'");
            const auto byte = static_cast<unsigned char>(*p);
            if (byte == '"') break;
            if (byte >= 0x80) {
                const unsigned length = binding::utf8_length(p, static_cast<std::size_t>(end_ - p));
                if (length == 0) return fail(Kind::kText, p, "UTF-8");
                p += length;
            } else if (byte == 0x7F) {
                ++p;
            } else if (byte == '\\') {
                if (!copies) scratch_.clear();
                copies = true;
                scratch_.append(from, p);
                if ((p = escape(p)) == nullptr) return false;
                from = p;
            } else {
                return fail(Kind::kSyntax, p, "'\"'");
            }
        }
        if (copies) {
            scratch_.append(from, p);
            text = scratch_;
        } else {
            text = {from, static_cast<std::size_t>(p - from)};
        }
        at_ = p + 1;
        return true;
    }
    // Adds what an escape means; gives its end.
    const char* escape(const char* p) {
        const char* const begin = p++;
        const char sign = p == end_ ? '\0' : *p++;
        switch (sign) {
            case 'n':
                return scratch_ += '\n', p;
            case 't':
                return scratch_ += '\t', p;
            case 'r':
                return scratch_ += '\r', p;
            case 'b':
                return scratch_ += '\b', p;
            case 'f':
                return scratch_ += '\f', p;
            case '"':
            case '\\':
            case '/':
                return scratch_ += sign, p;
            case 'u':
                break;
            default:
                return fail(Kind::kSyntax, sign == '\0' && p == end_ ? p : p - 1,
                            "an escape: one of \"\\/bfnrtu"),
                       nullptr;
        }
        std::uint32_t unit = 0, second = 0;
        if (!four_digits(p, unit)) {
            while (p != end_ && binding::hex_digit(*p) >= 0) ++p;
            return fail(Kind::kSyntax, p, "four hexadecimal digits"), nullptr;
        }
        p += 4;
        if ((unit & 0xFC00) == 0xD800 && end_ - p >= 2 && p[0] == '\\' && p[1] == 'u' &&
            four_digits(p + 2, second) && (second & 0xFC00) == 0xDC00) {
            unit = 0x10000 + ((unit & 0x3FF) << 10) + (second & 0x3FF);
            p += 6;
        }
        if (!binding::is_character(unit))
            return fail(Kind::kText, begin, "half of a surrogate pair", "a character"), nullptr;
        char room[4];
        scratch_.append(room, binding::put_utf8(room, unit));
        return p;
    }
    bool four_digits(const char* p, std::uint32_t& value) const {
        if (end_ - p < 4) return false;
        value = 0;
        for (int i = 0; i < 4; ++i) {
            const int digit = binding::hex_digit(p[i]);
            if (digit < 0) return false;
            value = value << 4 | static_cast<std::uint32_t>(digit);
        }
        return true;
    }
    template <class T>
    [[gnu::noinline, gnu::cold]] bool bad_integer(const char* at) {
        const char* const end = binding::end_of_number(at, end_);
        if (end != nullptr && end != end_ && binding::is_digit(*end))
            return fail(Kind::kSyntax, end, "a value");
        bool whole = end != nullptr;
        for (const char* p = at; whole && p != end; ++p) whole = *p != '.' && *p != 'e' && *p != 'E';
        return fail(whole ? Kind::kRange : Kind::kType, at, binding::expected_integer<T>());
    }
    template <class T>
    bool not_finite(T& value) {
        const char* const from = at_;
        std::string_view name;
        if (!string(name)) return false;
        return binding::not_finite(name, value) ? true : fail(Kind::kType, from, "a number");
    }
    // Where a word that begins like a word of JSON differs from it. Null: it does not begin so, or is such a
    // word.
    const char* broken_word(const char* at) const {
        for (const std::string_view word :
             {std::string_view("true"), std::string_view("false"), std::string_view("null")}) {
            if (at == end_ || *at != word[0]) continue;
            for (const char c : word) {
                if (at == end_ || *at != c) return at;
                ++at;
            }
        }
        return nullptr;
    }
    // What stands at a place, for error messages.
    std::string describe(const char* at) const {
        if (at >= end_) return "the end of the input";
        const char c = *at;
        if (c == '[') return "an array";
        if (c == '{') return "an object";
        if (c == '"') {
            JsonReader text(std::string_view(at, static_cast<std::size_t>(end_ - at)));
            std::string_view found;
            if (text.text(found)) return "the text " + binding::quoted(found);
        }
        if (const char* end = binding::end_of_number(at, end_))
            return "the number " +
                   std::string(at, static_cast<std::size_t>(end - at)).substr(0, binding::kQuoted);
        for (const std::string_view word :
             {std::string_view("true"), std::string_view("false"), std::string_view("null")})
            if (std::string_view(at, static_cast<std::size_t>(end_ - at)).substr(0, word.size()) == word)
                return std::string(word);
        return binding::shown_byte(c);
    }
};

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

#if defined(__GNUC__) && !defined(__clang__)
#    pragma GCC diagnostic pop
#endif
