// From a reader to a writer without a type in between: value by value, no tree. And values that are kept as
// they came (Raw).
//
// What the formats cannot both say: in JSON bytes become base64, a map whose first key is no text
// an array of pairs, undefined null, and tags are left out; bignums beyond 128 bits are refused. With
// a sink, arrays and objects of JSON become items of indefinite length in CBOR: what is handed on before
// their number is known cannot be changed.
#pragma once

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

// Says where whichever of both failed.
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

// An item as it is, when it is one.
inline char* copy_value(CborReader& in, CborWriter& out, char* p) {
    const char* const from = in.here();
    if (!in.skip()) return nullptr;
    const auto size = static_cast<std::size_t>(in.here() - from);
    p = out.room(p, size + kAnyRoom);
    return p == nullptr ? nullptr : put_literally(p, {from, size});
}

// A map whose keys are texts, or anything else.
inline char* copy_map(CborReader& in, JsonWriter& out, char* p) {
    CborReader::State state;
    std::size_t index = 0;
    if (!in.enter_map(state)) return nullptr;
    bool is_object = true;
    for (; in.next_member(state); ++index) {
        if (index == 0) p = (is_object = in.is_text()) ? out.open_map(p) : out.open_array(p);
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
    if (index == 0) return out.end_map(out.open_map(p), false);
    return is_object ? out.end_map(p, true) : out.end_array(p, true);
}

inline char* copy_value(CborReader& in, JsonWriter& out, char* p) {
    if ((p = out.room(p, kAnyRoom)) == nullptr) return nullptr;
    const char* const tagged = in.here();
    const auto tag = in.head(tagged);
    const bool is_bignum = tag.major == 6 && (tag.number == 2 || tag.number == 3);
    if (!is_bignum) in.skip_tags();
    const char* const from = in.here();
    const auto item = in.head(from);
    std::string_view text;
    if (item.end != nullptr) switch (item.major) {
            case 0:
            case 1:
            case 6: {
                UInt128 large = 0;
                Int128 whole = 0;
                if (item.major == 0 || (item.major == 6 && item.number == 2))
                    return in.integer(large) ? out.integer(p, large) : nullptr;
                return in.integer(whole) ? out.integer(p, whole) : nullptr;
            }
            case 2:
                return in.bytes(text) ? out.bytes(p, text.data(), text.size(), kAnyRoom) : nullptr;
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
