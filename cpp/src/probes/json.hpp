// Values as JSON, for fields that a tracer has no type for.
#pragma once

#include "output.hpp"
#include "signature.hpp"

namespace silverpoint::probes {

using namespace detail;

// The bytes of a record's arguments. What lies beyond their end is zero.
class Input {
  public:
    Input(const unsigned char* bytes, std::size_t size) : at_(bytes), end_(bytes + size) {}

    bool is_at_end() const { return at_ == end_; }
    void skip_all() { at_ = end_; }
    const unsigned char* take(std::size_t size) {
        static constexpr unsigned char kZeros[16] = {};
        if (size > static_cast<std::size_t>(end_ - at_)) {
            at_ = end_;
            return size <= sizeof kZeros ? kZeros : nullptr;
        }
        const unsigned char* const found = at_;
        at_ += size;
        return found;
    }
    template <class T>
    T get() {
        T value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }
    // The number of units that follow; how many were cut is passed over.
    std::uint32_t length() {
        const auto word = get<std::uint32_t>();
        if ((word & kCut) != 0) get<std::uint32_t>();
        return word & ~kCut;
    }
    // The same where each unit has `size` bytes: not more than there are.
    std::uint32_t length(std::size_t size) {
        const std::uint32_t count = length();
        const std::size_t most = static_cast<std::size_t>(end_ - at_) / size;
        return count < most ? count : static_cast<std::uint32_t>(most);
    }
    std::uint64_t unsigned_number(unsigned size) {
        std::uint64_t value = 0;
        if (size <= sizeof value) std::memcpy(&value, take(size), size);
        return value;
    }
    std::int64_t signed_number(unsigned size) {
        if (size == 0 || size > 8) return 0;
        const unsigned shift = 64 - 8 * size;
        return static_cast<std::int64_t>(unsigned_number(size) << shift) >> shift;
    }

  private:
    const unsigned char *at_, *end_;
};

// One character of JSON's texts.
inline void put_escaped(Output& out, std::uint32_t c) {
    constexpr char digits[] = "0123456789abcdef";
    if (c == '"' || c == '\\') {
        out.put('\\');
        out.put(static_cast<char>(c));
    } else if (c < ' ') {
        out.add("\\u00");
        out.put(digits[c >> 4]);
        out.put(digits[c & 15]);
    } else {
        out.code_point(c);
    }
}
// One byte of UTF-8.
inline void put_byte(Output& out, char c) {
    if (c == '"' || c == '\\' || (c >= 0 && c < ' ')) return put_escaped(out, static_cast<unsigned char>(c));
    out.put(c);
}
inline void put_quoted(Output& out, std::string_view text) {
    out.put('"');
    for (const char c : text) put_byte(out, c);
    out.put('"');
}
inline void put_hex(Output& out, const unsigned char* bytes, std::size_t size) {
    constexpr char digits[] = "0123456789abcdef";
    for (std::size_t i = 0; bytes != nullptr && i < size; ++i) {
        out.put(digits[bytes[i] >> 4]);
        out.put(digits[bytes[i] & 15]);
    }
}
// Digits enough to read the same back; what JSON has no number for is a text.
inline void put_float(Output& out, double value, int digits) {
    if (__builtin_isnan(value)) return out.add("\"nan\"");  // without its sign
    char text[40];
    int len = __builtin_snprintf(text, sizeof text, "%.*g", digits, value);
    for (char* c = text; *c != 0; ++c)
        if (*c == ',') *c = '.';
    const bool is_number = __builtin_isfinite(value);
    if (!is_number) out.put('"');
    out.add(text, static_cast<std::size_t>(len));
    if (!is_number) out.put('"');
}

// The code points of a text of `unit` bytes a unit, of which `count` follow.
template <class Put>
void each_code_point(Input& in, unsigned unit, std::uint32_t count, const Put& put) {
    for (std::uint32_t i = 0; i < count; ++i) {
        auto c = static_cast<std::uint32_t>(in.unsigned_number(unit));
        if (unit == 2 && c >= 0xD800 && c < 0xDC00 && i + 1 < count) {
            Input ahead = in;
            const auto low = static_cast<std::uint32_t>(ahead.unsigned_number(2));
            if (low >= 0xDC00 && low < 0xE000) {
                c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
                in = ahead;
                ++i;
            }
        }
        put(c);
    }
}

// An integer of 128 bits in decimal.
inline void put_wide(Output& out, Input& in, bool has_sign) {
    __extension__ using Wide = unsigned __int128;
    Wide value = in.get<Wide>();
    if (has_sign && (value >> 127) != 0) {
        out.put('-');
        value = ~value + 1;
    }
    char digits[40];
    unsigned at = sizeof digits;
    do digits[--at] = static_cast<char>('0' + static_cast<int>(value % 10));
    while ((value /= 10) != 0);
    out.add(digits + at, sizeof digits - at);
}
inline void put_uuid(Output& out, Input& in) {
    for (const unsigned size : {4u, 2u, 2u, 2u, 6u}) {
        if (size != 4 && out.is_whole() && size != 0) out.put('-');
        put_hex(out, in.take(size), size);
    }
}

// A character. A unit of a longer one is no character.
inline std::uint32_t take_character(Input& in, char code) {
    const auto unit = static_cast<std::uint32_t>(in.unsigned_number(code == 'c' ? 1 : code == 'w' ? 2 : 4));
    return code == 'c' && unit >= 0x80 ? 0xFFFD : unit;
}

// The text of a value that is none: a character, wide text, an integer of 128 bits.
inline void put_text(Output& out, char code, Input& in) {
    switch (code) {
        case 'S':
        case 'Z': {
            const unsigned unit = code == 'S' ? 2 : 4;
            return each_code_point(in, unit, in.length(unit), [&out](std::uint32_t c) { out.code_point(c); });
        }
        case 'c':
        case 'w':
        case 'W':
            return out.code_point(take_character(in, code));
        default:
            return put_wide(out, in, code == 'o');
    }
}

// The label of an enumeration's value, escaped. False: it has none.
inline bool find_label(std::string_view all, std::int64_t value, std::string_view& found) {
    Signature labels(all);
    while (!labels.is_at_end()) {
        const std::string_view number = labels.until('='), label = labels.until(',');
        std::uint64_t known = 0;
        for (const char c : number)
            if (c != '-') known = known * 10 + static_cast<std::uint64_t>(c - '0');
        if (!number.empty() && number[0] == '-') known = 0 - known;
        if (known != static_cast<std::uint64_t>(value)) continue;
        found = label;
        return true;
    }
    return false;
}

// Of a map's key, which is put together on the stack.
inline constexpr unsigned kKeyDepth = 4;

// The head of an item of CBOR.
struct ItemHead {
    unsigned major, low;
    std::uint64_t count;  // or the value itself

    explicit ItemHead(Input& in) {
        const auto head = in.get<std::uint8_t>();
        major = head >> 5;
        count = low = head & 31;
        if (low < 24 || low > 27) return;
        const unsigned size = 1u << (low - 24);
        count = 0;
        const unsigned char* const bytes = in.take(size);
        for (unsigned i = 0; i < size; ++i) count = count << 8 | bytes[i];
    }
    bool is_float() const { return major == 7 && low >= 25 && low <= 27; }
    double real() const {
        if (low == 26) return __builtin_bit_cast(float, static_cast<std::uint32_t>(count));
        if (low == 27) return __builtin_bit_cast(double, count);
        const auto half = static_cast<unsigned>(count);
        const unsigned exponent = half >> 10 & 31, fraction = half & 1023;
        const double value = exponent == 0 ? fraction * 0x1p-24
                             : exponent == 31
                                 ? (fraction == 0 ? __builtin_inf() : __builtin_nan(""))
                                 : (1024 + fraction) * __builtin_ldexp(1.0, static_cast<int>(exponent) - 25);
        return (half & 0x8000) != 0 ? -value : value;
    }
    // Majors 2 to 5 have a length: bytes or items.
    bool is_too_long() const { return major >= 2 && major <= 5 && count > kRecordMax; }
    // Whether `number` items were all of an array or map; passes over its end.
    bool is_over(Input& in, std::uint64_t number) const {
        if (low != 31) return number >= count;
        Input ahead = in;
        const auto next = ahead.get<std::uint8_t>();
        if (next != 0xFF && (next != 0 || number < kRecordMax)) return false;
        in = ahead;
        return true;
    }
};

// Passes over an item; over all that is left, if it is deeper than a reader accepts (spec/wire.md, section
// 10).
inline void skip_item(Input& in, unsigned depth = 128) {
    const ItemHead head(in);
    if (depth == 0 || head.is_too_long()) return in.skip_all();
    if (head.major == 2 || head.major == 3) in.take(static_cast<std::size_t>(head.count));
    if (head.major == 6) return skip_item(in, depth - 1);
    if (head.major != 4 && head.major != 5) return;
    for (std::uint64_t number = 0; !in.is_at_end() && !head.is_over(in, number); ++number) {
        skip_item(in, depth - 1);
        if (head.major == 5) skip_item(in, depth - 1);
    }
}

// A key that is no text becomes one.
inline void put_key(Output& out, const Output& key) {
    if (!key.is_whole()) return out.fail();
    const std::string_view json(key.bytes(), key.size());
    if (!json.empty() && json[0] == '"') return out.add(json);
    put_quoted(out, json);
}

inline void put_item(Output& out, Input& in, unsigned depth = 40);

[[gnu::noinline]] inline void put_item_key(Output& out, Input& in, unsigned depth) {
    Output key;
    put_item(key, in, depth < kKeyDepth ? depth : kKeyDepth);
    put_key(out, key);
}

// An item of CBOR. What is deeper than `depth` levels is left out.
inline void put_item(Output& out, Input& in, unsigned depth) {
    if (depth == 0) {
        skip_item(in);
        return out.add("null");
    }
    const ItemHead head(in);
    const unsigned major = head.major, low = head.low;
    const std::uint64_t count = head.count;
    if (head.is_too_long()) {
        in.skip_all();
        return out.add("null");
    }
    switch (major) {
        case 0:
            return out.decimal(count);
        case 1:
            out.put('-');
            if (count == ~std::uint64_t{0}) return out.add("18446744073709551616");
            return out.decimal(count + 1);
        case 2: {
            out.put('"');
            put_hex(out, in.take(static_cast<std::size_t>(count)), static_cast<std::size_t>(count));
            return out.put('"');
        }
        case 3: {
            const auto* const text = reinterpret_cast<const char*>(in.take(static_cast<std::size_t>(count)));
            return put_quoted(out, text == nullptr ? std::string_view()
                                                   : std::string_view(text, static_cast<std::size_t>(count)));
        }
        case 4:
        case 5:
            out.put(major == 4 ? '[' : '{');
            for (std::uint64_t number = 0; out.is_whole() && !head.is_over(in, number); ++number) {
                if (number > 0) out.put(',');
                if (major == 5) {
                    put_item_key(out, in, depth - 1);
                    out.put(':');
                }
                put_item(out, in, depth - 1);
            }
            return out.put(major == 4 ? ']' : '}');
        case 6: {
            // Metadata (spec/wire.md, section 10): the key, then the item.
            if (count == 0x53506D64) {
                in.get<std::uint8_t>();
                skip_item(in);
            }
            return put_item(out, in, depth - 1);
        }
        default:
            break;
    }
    if (low == 20 || low == 21) return out.add(low == 20 ? "false" : "true");
    if (head.is_float()) return put_float(out, head.real(), low == 27 ? 17 : 9);
    out.add("null");
}

inline void put_json(Output& out, Signature& of, Input& in);

inline void put_json_list(Output& out, Signature& of, Input& in, std::uint32_t count) {
    out.put('[');
    const Signature element = of;
    for (std::uint32_t i = 0; i < count && out.is_whole(); ++i) {
        if (i > 0) out.put(',');
        Signature again = element;
        put_json(out, again, in);
    }
    of.skip();
    out.put(']');
}

[[gnu::noinline]] inline void put_json_key(Output& out, Signature& of, Input& in) {
    Output key;
    put_json(key, of, in);
    put_key(out, key);
}

// A value as JSON; both inputs go past it.
inline void put_json(Output& out, Signature& of, Input& in) {
    of.skip_metadata();
    const char code = of.take();
    switch (code) {
        case 'b':
            return out.add(in.get<std::uint8_t>() != 0 ? "true" : "false");
        case 'f':
            return put_float(out, in.get<float>(), 9);
        case 'd':
            return put_float(out, in.get<double>(), 17);
        case 'o':
        case 'O':
            return put_wide(out, in, code == 'o');
        case 'n':
            return out.add("null");
        case 'c':
        case 'w':
        case 'W':
            out.put('"');
            put_escaped(out, take_character(in, code));
            return out.put('"');
        case 's': {
            const std::uint32_t count = in.length(1);
            return put_quoted(out, {reinterpret_cast<const char*>(in.take(count)), count});
        }
        case 'S':
        case 'Z': {
            const unsigned unit = code == 'S' ? 2 : 4;
            out.put('"');
            each_code_point(in, unit, in.length(unit), [&out](std::uint32_t c) { put_escaped(out, c); });
            return out.put('"');
        }
        case 'y': {
            const std::uint32_t count = in.length(1);
            out.put('"');
            put_hex(out, in.take(count), count);
            return out.put('"');
        }
        case 'u':
            out.put('"');
            put_uuid(out, in);
            return out.put('"');
        case 'v': {
            const std::uint32_t count = in.length(1);
            Input item(in.take(count), count);
            return put_item(out, item);
        }
        case '?':
            if (in.get<std::uint8_t>() != 0) return put_json(out, of, in);
            of.skip();
            return out.add("null");
        case '[':
        case '$':
            return put_json_list(out, of, in, in.length());
        case '#': {
            const std::uint32_t count = of.number(':');
            return put_json_list(out, of, in, count);
        }
        case '{': {
            const std::uint32_t count = in.length();
            const Signature pair = of;
            out.put('{');
            for (std::uint32_t i = 0; i < count && out.is_whole(); ++i) {
                if (i > 0) out.put(',');
                Signature again = pair;
                put_json_key(out, again, in);
                out.put(':');
                put_json(out, again, in);
            }
            of.skip();
            of.skip();
            return out.put('}');
        }
        case '(':
            out.put('[');
            for (bool is_first = true; !of.is_at_end() && of.peek() != ')'; is_first = false) {
                if (!is_first) out.put(',');
                put_json(out, of, in);
            }
            of.take();
            return out.put(']');
        case '<':
            of.until('|');
            out.put('{');
            for (bool is_first = true; !of.is_at_end() && of.peek() != '>'; is_first = false) {
                if (!is_first) out.put(',');
                out.put('"');
                unescape(of.until(':'), [&out](char c) { put_byte(out, c); });
                out.add("\":");
                put_json(out, of, in);
                of.take();
            }
            of.take();
            return out.put('}');
        case 'e': {
            of.until('|');
            const char unit = of.take();
            of.take();
            const std::string_view labels = of.until(';');
            const unsigned size = unit == 'c' ? 1 : unit == 'w' ? 2 : unit == 'W' ? 4 : plain_size(unit);
            const std::int64_t value = is_signed(unit) ? in.signed_number(size)
                                                       : static_cast<std::int64_t>(in.unsigned_number(size));
            std::string_view label;
            if (find_label(labels, value, label)) {
                out.put('"');
                unescape(label, [&out](char c) { put_byte(out, c); });
                return out.put('"');
            }
            if (is_signed(unit)) return out.decimal(value);
            return out.decimal(static_cast<std::uint64_t>(value));
        }
        case '/': {
            const auto index = in.get<std::uint8_t>();
            bool is_found = false;
            for (unsigned number = 0; !of.is_at_end() && of.peek() != '|'; ++number) {
                if (number == index) {
                    put_json(out, of, in);
                    is_found = true;
                } else {
                    of.skip();
                }
            }
            of.take();
            if (!is_found) out.add("null");
            return;
        }
        default:
            break;
    }
    const unsigned size = plain_size(code);
    if (size == 0) return out.add("null");
    if (is_signed(code)) return out.decimal(in.signed_number(size));
    out.decimal(in.unsigned_number(size));
}

}  // namespace silverpoint::probes
