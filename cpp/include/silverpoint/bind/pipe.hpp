// From a reader to a writer without a type in between: value by value, no tree. And values that are kept as
// they came (Raw).
//
// Differences of the formats (spec/bind.md has the table): in JSON bytes become base64, and undefined becomes
// null. A map with a key that is no text becomes an array of pairs. Tags are left out, except those of
// bignums and UUIDs. With a sink, arrays and objects of JSON become items of indefinite length in CBOR: their
// number is not known before bytes are passed on.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "cbor_reader.hpp"
#include "json_reader.hpp"
#include "read.hpp"

SP_BIND_BEGIN

// Room for any value of bounded size, and for the marks behind it.
inline constexpr std::size_t kAnyRoom = 64;

// The beginning of a name, for the path of an error.
struct ShownKey {
    explicit ShownKey(std::string_view key) : size(key.size() < sizeof text ? key.size() : sizeof text) {
        __builtin_memcpy(text, key.data(), size);
    }
    operator std::string_view() const { return {text, size}; }
    std::size_t size;
    char text[kName];
};

// Reports the error of the reader or of the writer.
template <class Source, class Target, class Step>
[[gnu::noinline, gnu::cold]] std::nullptr_t within(Source& in, Target& out, const Step& step) {
    if (in.failed()) return in.within(step), nullptr;
    return out.within(step);
}

template <class Target>
char* copy_number(JsonReader& in, Target& out, char* p) {
    const char* const from = in.here();
    std::string_view text;
    if (!in.number(text)) return in.fail(BindError::Kind::kSyntax, from, "a value"), nullptr;
    if constexpr (std::is_same_v<Target, JsonWriter>) {  // digit by digit
        p = out.room(p, text.size() + kAnyRoom);
        return p == nullptr ? nullptr : put_literally(p, text);
    } else {
        const char* const end = text.data() + text.size();
        Int128 whole = 0;
        UInt128 large = 0;
        if (text == "-0") return out.real(p, -0.0);
        if (parse_integer(text.data(), end, whole) == end) return out.integer(p, whole);
        if (parse_integer(text.data(), end, large) == end) return out.integer(p, large);
        double real = 0;
        (void)parse_float(text.data(), end, real);
        if (std::isinf(real))
            return in.fail(BindError::Kind::kRange, from, "a number that 64 bits hold"), nullptr;
        return out.real(p, real);
    }
}

template <class Target>
char* copy_value(JsonReader& in, Target& out, char* p);
inline char* copy_value(CborReader& in, JsonWriter& out, char* p);

template <class Source, class Target>
[[gnu::always_inline]] inline char* copy_array(Source& in, Target& out, char* p) {
    typename Source::State state;
    if (!in.enter_array(state)) return nullptr;
    const std::size_t opened = out.offset(p);
    std::size_t index = 0;
    p = out.open_array(p);
    for (; in.next_element(state); ++index) {
        if ((p = copy_value(in, out, p)) == nullptr) return within(in, out, index);
        p = out.behind_element(p);
    }
    if (in.failed() || (p = out.room(p, kAnyRoom)) == nullptr) return nullptr;
    return out.close_array(p, opened, index);
}

// One value of JSON. Null: the reader or the writer has failed.
template <class Target>
char* copy_value(JsonReader& in, Target& out, char* p) {
    if ((p = out.room(p, kAnyRoom)) == nullptr) return nullptr;
    JsonReader::State state;
    std::size_t index = 0, opened = 0;
    switch (in.next_mark()) {
        case '"': {
            std::string_view text;
            return in.text(text) ? out.text(p, text.data(), text.size(), kAnyRoom) : nullptr;
        }
        case '[':
            return copy_array(in, out, p);
        case '{':
            if (!in.enter_map(state)) return nullptr;
            opened = out.offset(p);
            p = out.open_map(p);
            for (; in.next_member(state); ++index) {
                std::string_view key;
                if (!in.key(key)) return nullptr;
                const ShownKey shown(key);
                if ((p = out.text(p, key.data(), key.size(), kAnyRoom)) == nullptr) return nullptr;
                if ((p = copy_value(in, out, out.behind_key(p))) == nullptr)
                    return within(in, out, std::string_view(shown));
                p = out.behind_element(p);
            }
            if (in.failed() || (p = out.room(p, kAnyRoom)) == nullptr) return nullptr;
            return out.close_map(p, opened, index);
        case 't':
        case 'f': {
            bool truth = false;
            return in.boolean(truth) ? out.boolean(p, truth) : nullptr;
        }
        case 'n':
            if (in.null()) return out.null(p);
            [[fallthrough]];
        default:
            return copy_number(in, out, p);
    }
}

// An item as it is, if it is complete.
inline char* copy_value(CborReader& in, CborWriter& out, char* p) {
    const char* const from = in.here();
    if (!in.skip()) return nullptr;
    const auto size = static_cast<std::size_t>(in.here() - from);
    p = out.room(p, size + kAnyRoom);
    return p == nullptr ? nullptr : put_literally(p, {from, size});
}

// Bytes of a bignum whose digits are written at most.
inline constexpr std::size_t kBignum = 1024;

// The digits of an integer of any size; `negative`: of one less than its opposite.
inline std::string decimal(std::string_view bytes, bool negative) {
    std::vector<std::uint32_t> limbs((bytes.size() + 3) / 4 + 1, 0);  // the highest first, one to spare
    for (std::size_t i = 0; i < bytes.size(); ++i)
        limbs[limbs.size() - 1 - i / 4] |=
            static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[bytes.size() - 1 - i])) << i % 4 * 8;
    if (negative)
        for (std::size_t i = limbs.size(); i-- > 0 && ++limbs[i] == 0;) {
        }
    std::string out;  // backwards
    for (bool more = true; more;) {
        std::uint64_t rest = 0;
        more = false;
        for (std::uint32_t& limb : limbs) {
            const std::uint64_t value = rest << 32 | limb;
            limb = static_cast<std::uint32_t>(value / 1'000'000'000);
            rest = value % 1'000'000'000;
            more |= limb != 0;
        }
        for (int i = 0; i < 9; ++i, rest /= 10) out += static_cast<char>('0' + rest % 10);
    }
    while (out.size() > 1 && out.back() == '0') out.pop_back();
    if (negative) out += '-';
    return {out.rbegin(), out.rend()};
}

// Bytes as the text of a UUID.
inline char* put_uuid_text(char* p, std::string_view bytes) {
    *p++ = '"';
    for (std::size_t i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *p++ = '-';
        const auto byte = static_cast<unsigned char>(bytes[i]);
        *p++ = "0123456789abcdef"[byte >> 4];
        *p++ = "0123456789abcdef"[byte & 15];
    }
    *p++ = '"';
    return p;
}

// A map: an object, if all its keys are texts.
inline char* copy_map(CborReader& in, JsonWriter& out, char* p) {
    CborReader::State state;
    std::size_t index = 0;
    bool is_object = true;
    {
        CborReader ahead(std::string_view(in.here(), in.left()));
        if (!ahead.enter_map(state)) return in.enter_map(state), nullptr;
        while (is_object && ahead.next_member(state))
            if ((is_object = ahead.is_text()) && (!ahead.skip() || !ahead.skip())) break;
    }
    if (!in.enter_map(state)) return nullptr;
    p = is_object ? out.open_map(p) : out.open_array(p);
    for (; in.next_member(state); ++index) {
        if (is_object) {
            std::string_view key;
            if (!in.key(key)) return in.within(index), nullptr;
            const ShownKey shown(key);
            if ((p = out.text(p, key.data(), key.size(), kAnyRoom)) == nullptr) return nullptr;
            if ((p = copy_value(in, out, out.behind_key(p))) == nullptr)
                return within(in, out, std::string_view(shown));
        } else {
            if ((p = out.room(p, kAnyRoom)) == nullptr) return nullptr;
            if ((p = copy_value(in, out, out.open_array(p))) == nullptr) return within(in, out, index);
            if ((p = copy_value(in, out, out.behind_element(p))) == nullptr) return within(in, out, index);
            p = out.end_array(out.behind_element(p), true);
        }
        p = out.behind_element(p);
    }
    if (in.failed() || (p = out.room(p, kAnyRoom)) == nullptr) return nullptr;
    return is_object ? out.end_map(p, index != 0) : out.end_array(p, index != 0);
}

// Bytes, by the meaning of the innermost tag before them.
inline char* copy_bytes(CborReader& in, JsonWriter& out, char* p, const char* from, std::uint64_t tag) {
    std::string_view bytes;
    if (!in.bytes(bytes)) return nullptr;
    if (tag == 37 && bytes.size() == 16) return put_uuid_text(p, bytes);
    if (tag != 2 && tag != 3) return out.bytes(p, bytes.data(), bytes.size(), kAnyRoom);
    while (!bytes.empty() && bytes[0] == '\0') bytes.remove_prefix(1);
    if (bytes.size() > kBignum)
        return in.fail(BindError::Kind::kRange, from, "an integer of 128 bits"), nullptr;
    const std::string digits = decimal(bytes, tag == 3);
    p = out.room(p, digits.size() + kAnyRoom);
    return p == nullptr ? nullptr : put_literally(p, digits);
}

inline char* copy_value(CborReader& in, JsonWriter& out, char* p) {
    if ((p = out.room(p, kAnyRoom)) == nullptr) return nullptr;
    const char* const tagged = in.here();
    const std::uint64_t tag = in.take_tags();
    const char* const from = in.here();
    const auto item = in.head(from);
    std::string_view text;
    if (item.end != nullptr) switch (item.major) {
            case 0: {
                UInt128 large = 0;
                return in.integer(large) ? out.integer(p, large) : nullptr;
            }
            case 1: {
                Int128 whole = 0;
                return in.integer(whole) ? out.integer(p, whole) : nullptr;
            }
            case 2:
                return copy_bytes(in, out, p, tagged, tag);
            case 3:
                return in.text(text) ? out.text(p, text.data(), text.size(), kAnyRoom) : nullptr;
            case 4:
                return copy_array(in, out, p);
            case 5:
                return copy_map(in, out, p);
            default:
                break;
        }
    if (in.null()) return out.null(p);
    if (item.end != nullptr && (item.info == 25 || item.info == 26)) {
        float number = 0;
        return in.real(number) ? out.real(p, number) : nullptr;
    }
    if (item.end != nullptr && item.info == 27) {
        double number = 0;
        return in.real(number) ? out.real(p, number) : nullptr;
    }
    bool truth = false;
    if (item.end != nullptr && (item.info == 20 || item.info == 21))
        return in.boolean(truth) ? out.boolean(p, truth) : nullptr;
    return in.fail(BindError::Kind::kSyntax, from, "a value"), nullptr;
}

SP_BIND_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// Copies the next value of the reader behind what the writer has.
// Thread-safe: one thread at a time, for each reader and writer. Cost: grows with the value; the writer
// allocates where its room is used up.
template <class Reader, class Writer>
BindResult pipe(Reader& reader, Writer& writer) {
    char* p = writer.at();
    const std::size_t began = writer.offset(p);
    if (began != 0) p = writer.separate(p);
    if (p != nullptr) p = binding::copy_value(reader, writer, p);
    BindResult written = writer.finish_value(p, began);
    BindResult read = reader.finish_value();
    return read ? std::move(written) : std::move(read);
}

inline bool JsonReader::raw(Raw& value) {
    CborWriter item;
    char* const p = binding::copy_value(*this, item, item.at());
    const BindResult written = item.finish_value(p, 0);
    if (failed()) return false;
    if (!written) return fail(written.error().kind, at_, written.error().found, written.error().expected);
    value.cbor.assign(item.view());
    return true;
}

inline bool CborReader::raw(Raw& value) {
    const char* const from = at_;
    if (!skip()) return false;
    value.cbor.assign(from, at_);
    return true;
}

// A Raw that a program has made by hand may be damaged.
inline char* JsonWriter::raw(char* p, const Raw& value, std::size_t after) {
    CborReader item(value.cbor);
    p = binding::copy_value(item, *this, p);
    if (p == nullptr && !item.failed()) return nullptr;
    const BindResult read = p == nullptr ? item.finish_value() : item.finish();
    return read ? room(p, after) : fail(p, read.error().kind, read.error().found, read.error().expected);
}

inline char* CborWriter::raw(char* p, const Raw& value, std::size_t after) {
    CborReader item(value.cbor);
    if (!item.skip() || item.more()) {
        const BindResult read = item.failed() ? item.finish_value() : item.finish();
        return fail(p, read.error().kind, read.error().found, read.error().expected);
    }
    p = room(p, value.cbor.size() + after);
    return p == nullptr ? nullptr : detail::put_block(p, value.cbor.data(), value.cbor.size());
}

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint
