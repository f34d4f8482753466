// A counter's value with the unit that its site tells of: metadata of the signature, no byte in the record.
#pragma once

#include "front.hpp"

SP_DETAIL_BEGIN

template <class T, FixedText kUnit>
struct WithUnit {
    T value;
};

template <class T, FixedText kUnit>
struct Codec<WithUnit<T, kUnit>> {
    static constexpr std::size_t fixed = CodecOf<T>::fixed;
    static constexpr void sign(Signer& out) {
        out.add("@unit=");
        out.name(kUnit.text);
        out.add(';');
        CodecOf<T>::sign(out);
    }
    static constexpr std::size_t size(const WithUnit<T, kUnit>&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const WithUnit<T, kUnit>& of) {
        return CodecOf<T>::put(out, of.value);
    }
};

// The value of a counter as it is recorded; without a unit as it is.
template <FixedText kUnit, class T>
SP_DETAIL_HOT auto counted(const T& value) {
    static_assert(CodecOf<T>::fixed != kVaries, "silverpoint: a counter's value is a number");
    if constexpr (sizeof(kUnit.text) == 1) {
        return value;
    } else {
        return WithUnit<T, kUnit>{value};
    }
}

SP_DETAIL_END
