// Whether bytes are UTF-8: what is described of a site must be.
#pragma once

#include <string_view>

#include "config.hpp"

SP_DETAIL_BEGIN

// How many bytes at the beginning are UTF-8, whole characters only.
SP_DETAIL_COLD std::size_t utf8_prefix(std::string_view text) {
    const auto byte = [text](std::size_t at) {
        return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
    };
    std::size_t at = 0;
    while (at < text.size()) {
        const unsigned first = byte(at), second = byte(at + 1);
        if (first < 0x80) {
            ++at;
            continue;
        }
        if (first < 0xC2 || first > 0xF4) break;
        // Neither longer than necessary, nor half a surrogate pair, nor beyond the last character.
        if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
            (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F))
            break;
        const unsigned size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        unsigned seen = 1;
        while (seen < size && (byte(at + seen) & 0xC0) == 0x80) ++seen;
        if (seen < size) break;
        at += size;
    }
    return at;
}

SP_DETAIL_END
