// JSON, compact: one value a call; several stand in lines of their own.
#pragma once

#include "write.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

struct SP_DETAIL_VISIBLE JsonWriteOptions {
    // Numbers that JSON does not have: null; the texts "nan", "inf", "-inf"; or an error.
    enum class NotFinite : std::uint8_t { kNull, kText, kRefuse } not_finite = NotFinite::kNull;
    // Texts that are not Unicode: an error, or U+FFFD for each byte or unit that is not.
    bool replaces_bad_text = false;
    // Members that are empty (optionals, pointers) are left out; else they are null.
    bool skips_empty = false;
};

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

SP_BIND_BEGIN

// `"name":` with what stands before it, as a text that the compiler makes.
template <class T, std::size_t kIndex>
struct JsonKey {
    static constexpr std::string_view kName = Struct<T>::kNames[kIndex];
    static constexpr std::size_t kSize = [] {
        std::size_t size = kName.size() + 4;
        for (const char c : kName) size += c == '"' || c == '\\' ? 1 : 0;
        return size;
    }();
    static constexpr auto kText = [] {
        KeyText<kSize> key{};
        char* const text = key.text;
        std::size_t at = 0;
        text[at++] = kIndex == 0 ? '{' : ',';
        text[at++] = '"';
        for (const char c : kName) {
            if (c == '"' || c == '\\') text[at++] = '\\';
            text[at++] = c;
        }
        text[at++] = '"';
        text[at++] = ':';
        return key;
    }();
    static constexpr std::string_view kWhole{kText.text, kSize};
};

template <class T>
struct JsonNames {
    static constexpr std::size_t size(std::size_t index) { return 2 * Struct<T>::kNames[index].size() + 4; }
    template <std::size_t kIndex>
    static constexpr std::string_view token() {
        return JsonKey<T, kIndex>::kWhole;
    }
    template <std::size_t kIndex>
    static constexpr std::string_view key() {
        return JsonKey<T, kIndex>::kWhole.substr(1);
    }
};

SP_BIND_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// Thread-safe: one thread at a time. Cost: 512 bytes within it, then memory that doubles; with a sink, pieces
// of 64 KiB.
class JsonWriter : public binding::Output {
  public:
    JsonWriter() = default;
    explicit JsonWriter(JsonWriteOptions options) : options_(options) {}
    JsonWriter(Sink sink, void* context, JsonWriteOptions options = {})
        : Output(sink, context), options_(options) {}

    const JsonWriteOptions& options() const { return options_; }

    // --- What write.hpp asks of a format.

    template <class T>
    static constexpr std::size_t kInteger = binding::kDigits<T>;
    template <class T>
    static constexpr std::size_t kFloat = binding::kFloatDigits<T>;
    static constexpr std::size_t kBool = 5, kNull = 4, kHead = 2, kTail = 1, kComma = 1, kCharacter = 12,
                                 kTextAround = 2;
    template <class T>
    using Names = binding::JsonNames<T>;

    bool skips_empty() const { return options_.skips_empty; }
    char* separate(char* p) {
        p = room(p, 1);
        if (p != nullptr) *p++ = '\n';
        return p;
    }
    char* null(char* p) {
        __builtin_memcpy(p, "null", 4);
        return p + 4;
    }
    char* boolean(char* p, bool value) {
        __builtin_memcpy(p, value ? "true" : "fals", 4);
        p[4] = 'e';
        return p + (value ? 4 : 5);
    }
    template <class T>
    char* integer(char* p, T value) {
        return binding::put_integer(p, value);
    }
    template <class T>
    char* real(char* p, T value) {
        using Stored = std::conditional_t<std::is_same_v<T, float>, float, double>;
        const auto stored = static_cast<Stored>(value);
        if (!std::isfinite(stored)) [[unlikely]]
            return not_finite(p, static_cast<double>(stored));
        return binding::put_float(p, stored);
    }
    char* character(char* p, std::uint32_t point) {
        *p++ = '"';
        p = escaped(p, point);
        *p++ = '"';
        return p;
    }
    char* label(char* p, std::string_view label) {
        *p++ = '"';
        p = binding::put_literally(p, label);
        *p++ = '"';
        return p;
    }
    char* head_array(char* p, std::size_t) { return *p++ = '[', p; }
    char* head_map(char* p, std::size_t) { return *p++ = '{', p; }
    // For containers whose number of elements is not known yet.
    char* open_array(char* p) { return head_array(p, 0); }
    char* open_map(char* p) { return head_map(p, 0); }
    char* close_array(char* p, std::size_t, std::size_t count) { return end_array(p, count != 0); }
    char* close_map(char* p, std::size_t, std::size_t count) { return end_map(p, count != 0); }
    char* behind_element(char* p) { return *p++ = ',', p; }
    char* behind_key(char* p) { return *p++ = ':', p; }
    char* end_array(char* p, bool any) { return end(p, any, ']'); }
    char* end_map(char* p, bool any) { return end(p, any, '}'); }
    char* end_members(char* p) { return *p++ = '}', p; }

    template <class Char>
    char* text(char* p, const Char* data, std::size_t size, std::size_t after) {
        if constexpr (sizeof(Char) == 1) {
            return narrow(p, reinterpret_cast<const char*>(data), size, after);
        } else {
            return wide(p, data, size, after);
        }
    }
    char* bytes(char* p, const char* data, std::size_t size, std::size_t after) {
        p = room(p, binding::base64_size(size) + 2 + after);
        if (p == nullptr) return nullptr;
        *p++ = '"';
        p = binding::put_base64(p, data, size);
        *p++ = '"';
        return p;
    }
    static constexpr std::size_t kDateTime = binding::kDateTime + 2;
    char* date_time(char* p, const char* text) { return label(p, {text, binding::kDateTime}); }
    char* raw(char* p, const Raw& value, std::size_t after);

  private:
    static char* end(char* p, bool any, char mark) {
        if (!any) return *p++ = mark, p;
        p[-1] = mark;
        return p;
    }
    char* not_finite(char* p, double value) {
        using NotFinite = JsonWriteOptions::NotFinite;
        const std::string_view name = value != value ? "nan" : value > 0 ? "inf" : "-inf";
        if (options_.not_finite == NotFinite::kRefuse)
            return fail(p, BindError::Kind::kNotFinite, std::string(name), "a finite number");
        return options_.not_finite == NotFinite::kNull ? null(p) : label(p, name);
    }
    static char* escaped(char* p, std::uint32_t point) {
        if (point >= 0x20 && point != '"' && point != '\\' && point != 0x7F)
            return binding::put_utf8(p, point);
        *p++ = '\\';
        const char* const short_form = point == '\n'   ? "n"
                                       : point == '"'  ? "\""
                                       : point == '\\' ? "\\"
                                       : point == '\t' ? "t"
                                       : point == '\r' ? "r"
                                       : point == '\b' ? "b"
                                       : point == '\f' ? "f"
                                                       : nullptr;
        if (short_form != nullptr) return *p++ = *short_form, p;
        __builtin_memcpy(p, "u00", 3);
        p[3] = "0123456789abcdef"[point >> 4];
        p[4] = "0123456789abcdef"[point & 15];
        return p + 5;
    }
    char* narrow(char* p, const char* data, std::size_t size, std::size_t after) {
        p = room(p, size + 2 + after);
        if (p == nullptr) return nullptr;
        *p++ = '"';
        const std::size_t plain = binding::plain_prefix(data, size);
        p = detail::put_block(p, data, plain);
        if (plain != size) [[unlikely]]
            p = special(p, data, size, plain, after);
        if (p == nullptr) return nullptr;
        *p++ = '"';
        return p;
    }
    // From the first byte that is not plain.
    [[gnu::noinline]] char* special(char* p, const char* data, std::size_t size, std::size_t at,
                                    std::size_t after) {
        if (size - at > static_cast<std::size_t>(-1) / 8)
            return fail(p, BindError::Kind::kMemory, "a text of half the memory", "a shorter one");
        p = room(p, 6 * (size - at) + 1 + after);
        if (p == nullptr) return nullptr;
        while (at < size) {
            if (static_cast<unsigned char>(data[at]) < 0x80) {
                p = escaped(p, static_cast<unsigned char>(data[at++]));
            } else if (const unsigned length = binding::utf8_length(data + at, size - at)) {
                __builtin_memcpy(p, data + at, length);
                p += length;
                at += length;
            } else {
                if (!options_.replaces_bad_text) return bad_text(p, at);
                p = binding::put_literally(p, binding::kReplacement);
                ++at;
            }
            const std::size_t plain = binding::plain_prefix(data + at, size - at);
            p = detail::put_block(p, data + at, plain);
            at += plain;
        }
        return p;
    }
    std::nullptr_t bad_text(char* p, std::size_t at) {
        return fail(p, BindError::Kind::kText,
                    "a text that is not Unicode, from its unit " + std::to_string(at) + " on",
                    "UTF-8, UTF-16 or UTF-32");
    }
    template <class Char>
    char* wide(char* p, const Char* data, std::size_t size, std::size_t after) {
        if (size > static_cast<std::size_t>(-1) / 8)
            return fail(p, BindError::Kind::kMemory, "a text of half the memory", "a shorter one");
        p = room(p, 6 * size + 2 + after);
        if (p == nullptr) return nullptr;
        *p++ = '"';
        for (std::size_t at = 0; at < size;) {
            const std::size_t here = at;
            const std::uint32_t point = binding::next_wide(data, size, at);
            if (binding::is_character(point)) {
                p = escaped(p, point);
            } else {
                if (!options_.replaces_bad_text) return bad_text(p, here);
                p = binding::put_literally(p, binding::kReplacement);
            }
        }
        *p++ = '"';
        return p;
    }

    JsonWriteOptions options_;
};

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint
