// Packing in one pass: each value is queried once, and each check of the room comes before the write that
// needs it. So a value never writes beyond its record, even if it changes meanwhile.
//
// A room gives place for some more bytes: where they go, null if there is no place.
//     Bound       a ring up to its limit: what does not fit is tried again on the cold path
//     Enough      of values of fixed size, which were measured before
//     Scratch     memory of its own that grows (scratch.hpp)
#pragma once

#include "capture.hpp"
#include "steady.hpp"

SP_DETAIL_BEGIN

struct Bound {
    const char* limit;

    SP_DETAIL_HOT char* fit(char* out, std::size_t size) const {
        return size <= static_cast<std::size_t>(limit - out) ? out : nullptr;
    }
    // The place of something that is corrected later.
    SP_DETAIL_HOT static char* mark(char* out) { return out; }
    SP_DETAIL_HOT static char* at(char* mark) { return mark; }
    // A value that cannot be packed.
    static char* refuse() { return nullptr; }
    // Some of it was left out.
    static void cut() {}
};

struct Enough : Bound {
    SP_DETAIL_HOT static char* fit(char* out, std::size_t) { return out; }
};

// `kAfter`: bytes that stay free behind it, for what is then written without a check.
template <class T>
struct Within {
    using Coder = CodecOf<T>;

    template <std::size_t kAfter = 0, class Room>
    SP_DETAIL_HOT static char* put(Room& room, char* out, const T& value) {
        if constexpr (!std::same_as<CapturedAs<T>, T>) {
            const auto& taken = Capture<T>::of(value);
            return Within<CapturedAs<T>>::template put<kAfter>(room, out, taken);
        } else if constexpr (Coder::fixed != kVaries && kIsSteady<T>) {
            out = room.fit(out, Coder::fixed + kAfter);
            return out == nullptr ? nullptr : put_fixed(out, value);
        } else if constexpr (kIsFlat<T>) {
            if (CutBefore<T>::is_cut(value)) room.cut();
            out = room.fit(out, Coder::size(value) + kAfter);
            return out == nullptr ? nullptr : Coder::put(out, value);
        } else if constexpr (Coder::fixed != kVaries && requires { Coder::put(out, value); }) {
            out = room.fit(out, Coder::fixed + kAfter);
            return out == nullptr ? nullptr : Coder::put(out, value);
        } else {
            return Coder::template walk<kAfter>(room, out, value);
        }
    }
    // Of fixed size, for which there is room.
    SP_DETAIL_HOT static char* put_fixed(char* out, const T& value) {
        if constexpr (!std::same_as<CapturedAs<T>, T>) {
            return Within<CapturedAs<T>>::put_fixed(out, Capture<T>::of(value));
        } else if constexpr (requires { Coder::put(out, value); }) {
            return Coder::put(out, value);
        } else {
            Enough room{};
            return Coder::template walk<0>(room, out, value);
        }
    }
};

// One after the other.
template <std::size_t kAfter, class Room, class... Ts>
SP_DETAIL_HOT char* walk_all(Room& room, char* out, const Ts&... parts) {
    (void)(((out = Within<Ts>::template put<kAfter>(room, out, parts)) != nullptr) && ...);
    return out;
}

SP_DETAIL_END
