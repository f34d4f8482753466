// Values that are recorded as a short text made of them: dates, modes of files.
#pragma once

#include "unit.hpp"

SP_DETAIL_BEGIN

// Text of at most N bytes; what is beyond is left out.
template <std::size_t Length>
struct ShortText {
    std::size_t size = 0;
    char data[Length];

    constexpr void add(char c) {
        if (size < Length) data[size++] = c;
    }
    constexpr void add(std::string_view text) {
        for (const char c : text) add(c);
    }
    // In decimal, with zeros in front up to a width.
    constexpr void number(std::uint64_t value, int width = 1) {
        if (value >= 10 || width > 1) number(value / 10, width - 1);
        add(static_cast<char>('0' + value % 10));
    }
};

template <std::size_t Length>
struct Codec<ShortText<Length>> {
    static constexpr bool kIsFlat = true;
    using Like = std::string_view;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('s'); }
    static std::size_t size(const ShortText<Length>& text) { return 4 + text.size; }
    static char* put(char* out, const ShortText<Length>& text) {
        return put_block(put_length(out, text.size), text.data, text.size);
    }
};

// A codec by the text that `Make::text` makes, a ShortText.
template <class T, class Make>
struct ShortTextCodec {
    using Like = std::string_view;
    // Made once for a record.
    using Taken = decltype(Make::text(std::declval<const T&>()));
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('s'); }
    static Taken take(const T& value) { return Make::text(value); }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& value) {
        const Taken made = take(value);
        return out.text(made.data, made.size);
    }
};

SP_DETAIL_END
