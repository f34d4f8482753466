// Values that hold another, or one of several: variants, expected values, smart pointers, atomics,
// references; and a few numbers of the library. They are matched by their members, so that none of their
// headers is needed here.
#pragma once

#include <atomic>

#include "codec.hpp"
#include "containers.hpp"

SP_DETAIL_BEGIN

template <class T>
concept VariantLike = requires(const T& value) {
    { value.index() } -> std::convertible_to<std::size_t>;
    { value.valueless_by_exception() } -> std::same_as<bool>;
};

// --- Variants: the number of the alternative, then its value.

template <template <class...> class Content, class... Ts>
    requires VariantLike<Content<Ts...>> && (!Described<Content<Ts...>>)
struct Codec<Content<Ts...>> {
    using T = Content<Ts...>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr std::uint8_t kValueless = 255;
    static_assert(sizeof...(Ts) < kValueless, "silverpoint: a variant has at most 254 alternatives");
    static constexpr void sign(Signer& out) {
        out.add('/');
        (CodecOf<Ts>::sign(out), ...);
        out.add('|');
    }
    // Calls with the alternative that is there, if one is.
    template <class Visit, std::size_t... Index>
    SP_DETAIL_HOT static void visit(const T& value, std::size_t index, Visit&& visit,
                                    std::index_sequence<Index...>) {
        // get_if is found through its argument.
        (void)((index == Index && (visit(*get_if<Index>(&value)), true)) || ...);
    }
    template <std::size_t kAfter, class Room>
    SP_DETAIL_HOT static char* walk(Room& room, char* out, const T& value) {
        const std::size_t index = value.index();
        out = room.fit(out, 1 + kAfter);
        if (out == nullptr) return nullptr;
        out = put_bytes(out, index >= sizeof...(Ts) ? kValueless : static_cast<std::uint8_t>(index));
        visit(
            value, index,
            [&]<class Held>(const Held& held) { out = Within<Held>::template put<kAfter>(room, out, held); },
            std::index_sequence_for<Ts...>{});
        return out;
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& value) {
        bool whole = true;
        if (value.index() >= sizeof...(Ts)) out.null();
        visit(
            value, value.index(), [&](const auto& held) { whole = put_item(out, held); },
            std::index_sequence_for<Ts...>{});
        return whole;
    }
};

// A type of one value: std::monostate, std::nullopt_t, an empty tag. Recorded as null.
template <class T>
concept UnitLike =
    std::is_empty_v<T> && std::is_trivially_default_constructible_v<T> && requires(const T& a) {
        { a == a } -> std::same_as<bool>;
        { a <= a } -> std::same_as<bool>;
    } && !RangeLike<T> && !TupleLike<T> && !TextLike<T> && !std::is_convertible_v<T, bool>;

template <UnitLike T>
    requires(!Described<T>)
struct Codec<T> {
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = 0;
    static constexpr void sign(Signer& out) { out.add('n'); }
    static constexpr std::size_t size(const T&) { return 0; }
    SP_DETAIL_HOT static char* put(char* out, const T&) { return out; }
    template <class Writer>
    static bool put_cbor(Writer& out, const T&) {
        out.null();
        return true;
    }
};

// --- Expected values: a variant of the value and the error.

template <ExpectedLike T>
    requires(!Described<T>)
struct Codec<T> {
    static constexpr bool kHasValue = !std::is_void_v<typename T::value_type>;
    using Error = CodecOf<typename T::error_type>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add('/');
        if constexpr (kHasValue) {
            CodecOf<typename T::value_type>::sign(out);
        } else {
            out.add('n');
        }
        Error::sign(out);
        out.add('|');
    }
    template <std::size_t kAfter, class Room>
    SP_DETAIL_HOT static char* walk(Room& room, char* out, const T& value) {
        const bool is_there = value.has_value();
        out = room.fit(out, 1 + kAfter);
        if (out == nullptr) return nullptr;
        out = put_bytes(out, static_cast<std::uint8_t>(is_there ? 0 : 1));
        if (!is_there) return Within<typename T::error_type>::template put<kAfter>(room, out, value.error());
        if constexpr (kHasValue) {
            return Within<typename T::value_type>::template put<kAfter>(room, out, *value);
        } else {
            return out;
        }
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& value) {
        if (!value.has_value()) return put_item(out, value.error());
        if constexpr (kHasValue) return put_item(out, *value);
        out.null();
        return true;
    }
};

// --- Pointers that own: what they point to, or nothing.

// unique_ptr, shared_ptr and similar types; not those to arrays, whose lengths are unknown.
template <class T>
concept OwnerLike = requires(const T& owner) {
    typename T::element_type;
    { owner.get() } -> std::convertible_to<const volatile void*>;
    static_cast<bool>(owner);
} && !RangeLike<T>;

// Whether what it points to can be recorded; else its address is.
template <class T>
concept OwnsValue = OwnerLike<T> && requires(const T& owner) {
    *owner;
    requires Recordable<std::remove_cvref_t<decltype(*owner)>>;
};

template <OwnerLike T>
    requires(!OwnsValue<T> && !Described<T>)
struct Codec<T> {
    static constexpr std::size_t fixed = 8;
    static constexpr void sign(Signer& out) { out.add('p'); }
    static constexpr std::size_t size(const T&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const T& owner) {
        return put_bytes<std::uint64_t>(out, reinterpret_cast<std::uintptr_t>(owner.get()));
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& owner) {
        return put_item(out, static_cast<const volatile void*>(owner.get()));
    }
};

template <OwnsValue T>
    requires(!Described<T>)
struct Codec<T> {
    using Inner = CodecOf<decltype(*std::declval<const T&>())>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add('?');
        Inner::sign(out);
    }
    template <std::size_t kAfter, class Room>
    SP_DETAIL_HOT static char* walk(Room& room, char* out, const T& owner) {
        const bool is_there = static_cast<bool>(owner);
        out = room.fit(out, 1 + kAfter);
        if (out == nullptr) return nullptr;
        out = put_bytes(out, is_there);
        using Held = std::remove_cvref_t<decltype(*owner)>;
        return is_there ? Within<Held>::template put<kAfter>(room, out, *owner) : out;
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& owner) {
        if (owner) return put_item(out, *owner);
        out.null();
        return true;
    }
};

// std::weak_ptr: whether its object was still there. (Lock it to record the object.)
template <class T>
concept WeakLike = requires(const T& weak) {
    { weak.expired() } -> std::same_as<bool>;
    weak.lock();
};

template <WeakLike T>
struct Codec<T> {
    static constexpr std::size_t fixed = 1;
    static constexpr void sign(Signer& out) { out.add('b'); }
    static constexpr std::size_t size(const T&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const T& weak) { return put_bytes(out, !weak.expired()); }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& weak) {
        return put_item(out, !weak.expired());
    }
};

// --- Single values behind a call.

// std::atomic and similar types: read once, relaxed where the type allows it.
template <class T>
concept AtomicLike = requires(const T& value) {
    typename T::value_type;
    { value.load() } -> std::convertible_to<typename T::value_type>;
    { value.is_lock_free() } -> std::same_as<bool>;
};

template <AtomicLike T>
struct Codec<T> {
    using Inner = CodecOf<typename T::value_type>;
    static_assert(Inner::fixed != kVaries, "silverpoint: an atomic value of this type cannot be recorded");
    static constexpr std::size_t fixed = Inner::fixed;
    static constexpr void sign(Signer& out) { Inner::sign(out); }
    static constexpr std::size_t size(const T&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const T& value) {
        const typename T::value_type loaded = value.load(std::memory_order_relaxed);
        return Within<typename T::value_type>::put_fixed(out, loaded);
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& value) {
        const typename T::value_type loaded = value.load(std::memory_order_relaxed);
        return put_item(out, loaded);
    }
};

// std::reference_wrapper.
template <class T>
concept ReferenceLike = requires(const T& reference) {
    typename T::type;
    { reference.get() } -> std::same_as<typename T::type&>;
    static_cast<typename T::type&>(reference);
} && !OwnerLike<T>;

template <ReferenceLike T>
struct Codec<T> {
    using Inner = CodecOf<typename T::type>;
    static constexpr std::size_t fixed = Inner::fixed;
    static constexpr void sign(Signer& out) { Inner::sign(out); }
    template <std::size_t kAfter, class Room>
    SP_DETAIL_HOT static char* walk(Room& room, char* out, const T& reference) {
        return Within<std::remove_cv_t<typename T::type>>::template put<kAfter>(room, out, reference.get());
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& reference) {
        return put_item(out, reference.get());
    }
};

// std::complex: a record of its two parts.
template <class T>
concept ComplexLike = requires(const T& value) {
    typename T::value_type;
    { value.real() } -> std::same_as<typename T::value_type>;
    { value.imag() } -> std::same_as<typename T::value_type>;
};

template <ComplexLike T>
    requires(!Described<T>)
struct Codec<T> {
    using Part = CodecOf<typename T::value_type>;
    static constexpr std::size_t fixed = add_fixed(Part::fixed, Part::fixed);
    static constexpr void sign(Signer& out) {
        out.add("<complex|re:");
        Part::sign(out);
        out.add(",im:");
        Part::sign(out);
        out.add(",>");
    }
    template <std::size_t kAfter, class Room>
    SP_DETAIL_HOT static char* walk(Room& room, char* out, const T& value) {
        using Value = typename T::value_type;
        out = Within<Value>::template put<kAfter>(room, out, value.real());
        return out == nullptr ? out : Within<Value>::template put<kAfter>(room, out, value.imag());
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& value) {
        out.begin_array();
        const bool whole = put_item(out, value.real()) && put_item(out, value.imag());
        out.end();
        return whole;
    }
};

// std::bitset: its digits as text, the highest first, as it prints itself.
template <class T>
concept BitsetLike = requires(const T& bits) {
    { bits.test(0) } -> std::same_as<bool>;
    { bits.to_ullong() } -> std::same_as<unsigned long long>;
    { bits.count() } -> std::same_as<std::size_t>;
};

template <BitsetLike T>
struct Codec<T> {
    static constexpr std::size_t kBits = T{}.size();
    static constexpr std::size_t fixed = 4 + kBits;
    static constexpr void sign(Signer& out) { out.add('s'); }
    static constexpr std::size_t size(const T&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const T& bits) {
        out = put_length(out, kBits);
        for (std::size_t bit = kBits; bit-- > 0;) *out++ = bits[bit] ? '1' : '0';
        return out;
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& bits) {
        char text[fixed];
        put(text, bits);
        return out.text(text + 4, kBits);
    }
};

// --- Errors and places: records of their content. No call allocates.

// std::error_code and std::error_condition. Their message would allocate; to record it, pass message().
template <class T>
concept ErrorCodeLike = requires(const T& error) {
    { error.value() } -> std::same_as<int>;
    { error.category().name() } -> std::convertible_to<const char*>;
};

struct ErrorRef {
    TextRef<char> category;
    int value;
};
template <>
struct Codec<ErrorRef> {
    using Name = Codec<TextRef<char>>;
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add("<error|category:s,value:i,>"); }
    static std::size_t size(const ErrorRef& error) { return 4 + Name::size(error.category); }
    static char* put(char* out, const ErrorRef& error) {
        return put_bytes(Name::put(out, error.category), error.value);
    }
};

template <ErrorCodeLike T>
struct Codec<T> {
    using Taken = ErrorRef;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { Codec<ErrorRef>::sign(out); }
    static ErrorRef take(const T& error) { return {measure(error.category().name()), error.value()}; }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& error) {
        out.begin_array();
        const bool whole = put_item(out, error.category().name()) && put_item(out, error.value());
        out.end();
        return whole;
    }
};

// std::exception and derived types: the text. (silverpoint/exceptions.hpp also records the causes.)
template <class T>
concept ExceptionLike = std::is_class_v<T> && requires(const T& error) {
    { error.what() } -> std::same_as<const char*>;
};

template <ExceptionLike T>
    requires(!Described<T> && !ErrorCodeLike<T>)
struct Codec<T> {
    using Taken = TextRef<char>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('s'); }
    static Taken take(const T& error) { return measure(error.what()); }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& error) {
        return put_item(out, error.what());
    }
};

// std::type_info: the name from the compiler.
template <class T>
concept TypeInfoLike = requires(const T& type) {
    { type.name() } -> std::same_as<const char*>;
    { type.hash_code() } -> std::same_as<std::size_t>;
};

template <TypeInfoLike T>
struct Codec<T> {
    using Taken = TextRef<char>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('s'); }
    static Taken take(const T& type) { return measure(type.name()); }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& type) {
        return put_item(out, type.name());
    }
};

// std::source_location.
template <class T>
concept PlaceLike = requires(const T& place) {
    { place.file_name() } -> std::same_as<const char*>;
    { place.function_name() } -> std::same_as<const char*>;
    place.line();
};

struct PlaceRef {
    TextRef<char> file;
    std::uint32_t line;
    TextRef<char> function;
};
template <>
struct Codec<PlaceRef> {
    using Text = Codec<TextRef<char>>;
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add("<place|file:s,line:I,function:s,>"); }
    static std::size_t size(const PlaceRef& place) {
        return 4 + Text::size(place.file) + Text::size(place.function);
    }
    static char* put(char* out, const PlaceRef& place) {
        return Text::put(put_bytes(Text::put(out, place.file), place.line), place.function);
    }
};

template <PlaceLike T>
struct Codec<T> {
    using Taken = PlaceRef;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { Codec<PlaceRef>::sign(out); }
    static PlaceRef take(const T& place) {
        return {measure(place.file_name()), static_cast<std::uint32_t>(place.line()),
                measure(place.function_name())};
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& place) {
        out.begin_array();
        const bool whole = put_item(out, place.file_name()) && put_item(out, place.line()) &&
                           put_item(out, place.function_name());
        out.end();
        return whole;
    }
};

// --- Views that are changed when they are walked (std::views::filter and similar views): a copy of the view
// is walked, once.

template <class T>
concept ViewLike = !RangeLike<T> && std::copy_constructible<T> && requires(T& view) {
    { view.begin() } -> std::forward_iterator;
    view.end();
} && !TextLike<T>;

template <ViewLike T>
    requires(!Described<T>)
struct Codec<T> {
    using Element = typename WalkedBy<std::remove_cvref_t<decltype(std::declval<T&>().begin())>>::type;
    using Inner = CodecOf<Element>;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add('[');
        Inner::sign(out);
    }
    template <std::size_t kAfter, class Room>
    static char* walk(Room& room, char* out, const T& view) {
        T copy(view);
        return walk_range<T, kVaries, kAfter>(room, out, copy, [&](char* to, const Element& element) {
            return Within<Element>::template put<kAfter>(room, to, element);
        });
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& view) {
        T copy(view);
        bool whole = true;
        out.begin_array();
        for (auto&& element : copy) {
            if (!out.has_room()) break;
            whole = put_item(out, static_cast<const Element&>(element)) && whole;
        }
        out.end();
        return whole;
    }
};

SP_DETAIL_END
