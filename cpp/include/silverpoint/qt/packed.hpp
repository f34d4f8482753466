// Values that are looked up when they are recorded (objects' names, variants, zones), in containers: packed
// once, so that the size of a record is that of what it holds whatever happens to them meanwhile.
//
// Containers, maps, pairs and smart pointers of them, however nested. What holds them otherwise (std::array,
// std::optional, std::tuple, own types) asks each twice.
#pragma once

#include <QByteArray>

#include "../silverpoint.hpp"

SP_DETAIL_BEGIN

// Whether each look at a T may find another: it is recorded by what Capture<T> has taken of it.
template <class T>
inline constexpr bool kIsUnsteady = false;

// What such a pointer points to, looked at once.
template <class Class>
struct OwnedRef {
    const Class* to;
};
template <class T>
struct OwnedBy {
    using type = void;
};

template <class T>
concept PackedRange = RangeLike<T> && !ArrayLike<T> && !Described<T>;

// Whether it is such a value or holds some, at most so deep.
template <class T, unsigned kDeep = 8>
constexpr bool holds_unsteady() {
    if constexpr (kDeep == 0) {
        return false;
    } else if constexpr (kIsUnsteady<T>) {
        return true;
    } else if constexpr (Described<T>) {
        return false;
    } else if constexpr (!std::is_void_v<typename OwnedBy<T>::type>) {
        return holds_unsteady<typename OwnedBy<T>::type, kDeep - 1>();
    } else if constexpr (requires {
                             typename T::key_type;
                             typename T::mapped_type;
                         }) {
        return holds_unsteady<typename T::key_type, kDeep - 1>() ||
               holds_unsteady<typename T::mapped_type, kDeep - 1>();
    } else if constexpr (requires { Codec<T>::kIsWhole; } || TextLike<T>) {
        return false;
    } else if constexpr (PackedRange<T>) {
        return holds_unsteady<typename ElementOf<T>::type, kDeep - 1>();
    } else if constexpr (requires {
                             typename T::first_type;
                             typename T::second_type;
                         }) {
        return holds_unsteady<std::remove_cv_t<typename T::first_type>, kDeep - 1>() ||
               holds_unsteady<std::remove_cv_t<typename T::second_type>, kDeep - 1>();
    } else {
        return false;
    }
}

// A T as its codec packs it.
template <class T>
struct Packed {
    QByteArray bytes;
    bool is_whole = true;
};
template <class T>
struct CutBefore<Packed<T>> {
    static constexpr bool kMayBe = true;
    static bool is_cut(const Packed<T>& packed) { return !packed.is_whole; }
};

template <class T>
struct Codec<Packed<T>> {
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { CodecOf<T>::sign(out); }
    static std::size_t size(const Packed<T>& packed) { return static_cast<std::size_t>(packed.bytes.size()); }
    static char* put(char* out, const Packed<T>& packed) {
        return put_block(out, packed.bytes.constData(), static_cast<std::size_t>(packed.bytes.size()));
    }
};

// Appends a value to what is packed; false when something within is cut.
template <class T>
bool pack_once(QByteArray& out, const T& value) {
    bool whole = true;
    const auto count_at = [&](qsizetype at, std::size_t count) { put_length(out.data() + at, count); };
    const auto pack = [&]<class Part>(std::type_identity<Part>, const std::type_identity_t<Part>& part) {
        whole = pack_once<Part>(out, part) && whole;
    };
    if constexpr (!holds_unsteady<T>() || kIsUnsteady<T>) {
        const auto& taken = Capture<T>::of(value);
        using Taken = CodecOf<decltype(taken)>;
        const qsizetype before = out.size();
        out.resize(before + static_cast<qsizetype>(Taken::size(taken)));
        Taken::put(out.data() + before, taken);
        whole = !CutBefore<std::remove_cvref_t<decltype(taken)>>::is_cut(taken);
    } else if constexpr (!std::is_void_v<typename OwnedBy<T>::type>) {
        const auto* to = value.data();
        out.append(to != nullptr ? '\1' : '\0');
        if (to != nullptr) pack(std::type_identity<typename OwnedBy<T>::type>{}, *to);
    } else if constexpr (requires {
                             typename T::key_type;
                             typename T::mapped_type;
                         }) {
        constexpr std::type_identity<typename T::key_type> kKey{};
        constexpr std::type_identity<typename T::mapped_type> kMapped{};
        const qsizetype before = out.size();
        std::size_t count = 0;
        out.resize(before + 4);
        for (auto it = value.begin(); it != value.end(); ++it, ++count) {
            if constexpr (requires { it.key(); }) {
                pack(kKey, it.key());
                pack(kMapped, it.value());
            } else {
                pack(kKey, it->first);
                pack(kMapped, it->second);
            }
        }
        count_at(before, count);
    } else if constexpr (PackedRange<T>) {
        const qsizetype before = out.size();
        std::size_t count = 0;
        out.resize(before + 4);
        for (const auto& element : value) {
            pack(std::type_identity<typename ElementOf<T>::type>{}, element);
            ++count;
        }
        count_at(before, count);
    } else {
        pack(std::type_identity<std::remove_cv_t<typename T::first_type>>{}, value.first);
        pack(std::type_identity<std::remove_cv_t<typename T::second_type>>{}, value.second);
    }
    return whole;
}

template <class T>
    requires(holds_unsteady<T>() && !kIsUnsteady<T>)
struct Capture<T> {
    using type = Packed<T>;
    static type of(const T& value) {
        type packed;
        packed.is_whole = pack_once(packed.bytes, value);
        return packed;
    }
};

SP_DETAIL_END
