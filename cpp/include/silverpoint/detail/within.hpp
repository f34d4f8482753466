// Packing in one pass: without a look at the size first, but with one at the limit on the way.
#pragma once

#include "values.hpp"

SP_DETAIL_BEGIN

// Packing in one pass, for values whose size is dear to know (each node of a map would be visited twice):
// what is written is compared with the limit on the way. Null when the value does not fit; then nothing of it
// counts.
template <class T>
struct Within {
    using Coder = CodecOf<T>;
    // (A type that can be walked may have a codec of its own, which does something else: it says kIsWhole.)
    static constexpr bool kElements =
        (MapLike<T> || RangeLike<T>)&&!ArrayLike<T> && !Described<T> && !requires { Coder::kIsWhole; };
    static constexpr bool elements_vary() {
        if constexpr (!kElements) {
            return false;
        } else if constexpr (MapLike<T>) {
            return CodecOf<typename T::key_type>::fixed == kVaries ||
                   CodecOf<typename T::mapped_type>::fixed == kVaries;
        } else {
            return CodecOf<typename ElementOf<T>::type>::fixed == kVaries;
        }
    }
    // Whether it is worth it.
    static constexpr bool kIsDear = elements_vary();

    // Leaves `kAfter` bytes before the limit, for what follows and is then written without a look.
    template <std::size_t kAfter = 0>
    SP_DETAIL_HOT static char* put(char* out, const char* limit, const T& value) {
        const auto room = static_cast<std::size_t>(limit - out);
        if constexpr (!kIsDear) {
            return Coder::size(value) + kAfter <= room ? Coder::put(out, value) : nullptr;
        } else {
            if (room < 4 + kAfter) return nullptr;
            const std::size_t count = count_of(value);
            std::size_t left = count;
            char* const length = out;
            out = put_length(out, left);
            // Counted, so that nobody asks a map for what follows its last element: that way is the longest
            // in its tree.
            for (auto at = value.begin(); left != 0;) {
                if (!(at != value.end())) [[unlikely]] {
                    // Fewer than it said.
                    put_length(length, count - left);
                    break;
                }
                const auto& element = *at;
                if constexpr (MapLike<T>) {
                    using Mapped = typename T::mapped_type;
                    constexpr std::size_t fixed = CodecOf<Mapped>::fixed;
                    constexpr std::size_t after = kAfter + (fixed == kVaries ? 0 : fixed);
                    out = Within<typename T::key_type>::template put<after>(out, limit, element.first);
                    if (out == nullptr) return nullptr;
                    if constexpr (fixed == kVaries) {
                        out = Within<Mapped>::template put<kAfter>(out, limit, element.second);
                        if (out == nullptr) return nullptr;
                    } else {
                        out = CodecOf<Mapped>::put(out, element.second);
                    }
                } else {
                    out = Within<typename ElementOf<T>::type>::template put<kAfter>(out, limit, element);
                    if (out == nullptr) return nullptr;
                }
                if (--left == 0) break;
                ++at;
            }
            return out;
        }
    }
};

SP_DETAIL_END
