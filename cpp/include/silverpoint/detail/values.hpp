// All kinds of values, and the signatures of argument lists made of them.
#pragma once

#include "codec.hpp"
#include "containers.hpp"
#include "holders.hpp"
#include "times.hpp"

SP_DETAIL_BEGIN

// The signature of an argument list, as static text.
template <class... Ts>
struct SignatureOf {
    static constexpr std::size_t length() {
        [[maybe_unused]] Signer signer;
        (CodecOf<Ts>::sign(signer), ...);
        return signer.len;
    }
    struct Buffer {
        char text[length() + 1] = {};
    };
    static constexpr Buffer make() {
        Buffer buffer;
        [[maybe_unused]] Signer signer{buffer.text, 0};
        (CodecOf<Ts>::sign(signer), ...);
        return buffer;
    }
    static constexpr Buffer buffer = make();
    static constexpr std::string_view text{buffer.text, length()};
};

SP_DETAIL_END
