// Arguments that are packed already, recorded as one.
#pragma once

#include "codec.hpp"

SP_DETAIL_BEGIN

struct PackedBytes {
    const char* data;
    std::size_t size;
};
template <>
struct Codec<PackedBytes> {
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = kVaries;
    SP_DETAIL_HOT static std::size_t size(const PackedBytes& bytes) { return bytes.size; }
    SP_DETAIL_HOT static char* put(char* out, const PackedBytes& bytes) {
        return put_block(out, bytes.data, bytes.size);
    }
};

SP_DETAIL_END
