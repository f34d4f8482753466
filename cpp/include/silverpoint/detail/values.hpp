// All kinds of values, and the signatures of argument lists made of them.
#pragma once

#include "codec.hpp"
#include "containers.hpp"
#include "holders.hpp"
#include "steady.hpp"
#include "times.hpp"

SP_DETAIL_BEGIN

// Measures the signature of an argument list.
template <class... Ts>
constexpr Signer measure_signature() {
    Signer signer;
    (CodecOf<Ts>::sign(signer), ...);
    return signer;
}

// The signature of an argument list, as static text.
template <class... Ts>
struct SignatureOf {
    static constexpr Signer measured = measure_signature<Ts...>();
    static_assert(!measured.is_endless,
                  "silverpoint: a type that contains itself has no signature: describe it with "
                  "SP_RECURSIVE(Type, member, ...) of silverpoint/recursive.hpp instead of SP_STRUCT "
                  "(and no other type is nested more than 32 deep)");
    struct Buffer {
        char text[measured.len + 1] = {};
    };
    static constexpr Buffer make() {
        Buffer made;
        [[maybe_unused]] Signer signer{made.text};
        (CodecOf<Ts>::sign(signer), ...);
        return made;
    }
    static constexpr Buffer buffer = make();
    static constexpr std::string_view text{buffer.text, measured.len};
};

SP_DETAIL_END
