// Objects of a class hierarchy, recorded by their dynamic type, not by the type of the reference.
//
//     SP_STRUCT(ns::Circle, centre, radius)
//     SP_STRUCT(ns::Square, centre, side)
//     SP_DYNAMIC(ns::Shape, ns::Circle, ns::Square)         at global scope, once, where all are complete
//
//     const ns::Shape& shape = …;
//     SP_INFO("{} {}", shape, &shape);                      Circle{centre: …, radius: 2} Circle{…}
//
// The record has a variant of the listed classes (at most 250), each described like any type. A pointer to
// the base is such a variant or none. An object of a class that is not listed is recorded as the first class
// in the list that it derives from. If there is none, it is recorded as the text of its class name. The base
// itself may be listed, last: then all others are recorded by their base's members.
//
// The dynamic type is found by typeid, then by dynamic_cast. Without type information (-fno-rtti), or to be
// faster, define a function beside the base. `int silverpoint_tag(const Shape&)` returns the index in the
// list; any other number is recorded as null. References and pointers to the listed classes are recorded as
// before.
#pragma once

#include "detail/short_text.hpp"
#include "silverpoint.hpp"
#ifdef __cpp_rtti
#    include <typeinfo>
#endif

SP_DETAIL_BEGIN

// The name of a class, from typeid. Names in namespaces and classes are spelled out; others (of templates, of
// classes in functions) stay mangled.
struct ClassName {
    using Text = ShortText<200>;
    static Text text(std::string_view mangled) {
        Text out;
        std::string_view rest = mangled;
        if (rest.starts_with('N') && rest.ends_with('E')) rest = rest.substr(1, rest.size() - 2);
        while (!rest.empty()) {
            std::size_t size = 0, at = 0;
            for (; at < rest.size() && rest[at] >= '0' && rest[at] <= '9' && size < 1000; ++at)
                size = size * 10 + static_cast<std::size_t>(rest[at] - '0');
            if (at == 0 || size == 0 || size > rest.size() - at) {
                Text whole;
                whole.add(mangled);
                return whole;
            }
            const std::string_view name = rest.substr(at, size);
            rest.remove_prefix(at + size);
            if (name == "_GLOBAL__N_1") continue;  // a namespace without a name
            if (out.size != 0) out.add("::");
            out.add(name);
        }
        return out;
    }
};

template <class Base>
struct DynamicPointerCodec;

template <class Base, class... Derived>
struct DynamicCodec {
    using Pointer = DynamicPointerCodec<Base>;
    static constexpr unsigned kCount = sizeof...(Derived);
    static constexpr bool kHasTag = requires(const Base& value) {
        { silverpoint_tag(value) } -> std::convertible_to<int>;
    };
    static_assert(kCount >= 1 && kCount <= 250, "silverpoint: SP_DYNAMIC lists 1 to 250 classes");
    static_assert((std::is_base_of_v<Base, Derived> && ...),
                  "silverpoint: SP_DYNAMIC lists classes that derive from the first");
#ifdef __cpp_rtti
    static constexpr bool kIsNamed = !kHasTag;
#else
    static constexpr bool kIsNamed = false;
    static_assert(kHasTag,
                  "silverpoint: without type information SP_DYNAMIC needs int silverpoint_tag(const Base&)");
#endif

    // The base in its own list is recorded by its members alone.
    template <class Actual>
    struct Alternative : CodecOf<Actual> {};
    template <class Actual>
        requires std::same_as<Actual, Base>
    struct Alternative<Actual> : StructCodec<Actual> {};

    // The number of the class in the list, kCount for none.
    static unsigned index_of(const Base& value) {
        unsigned found = kCount;
        if constexpr (kHasTag) {
            const int tag = silverpoint_tag(value);
            if (tag >= 0 && static_cast<unsigned>(tag) < kCount) found = static_cast<unsigned>(tag);
        } else {
#ifdef __cpp_rtti
            unsigned number = 0;
            const std::type_info& type = typeid(value);
            ((found = found == kCount && type == typeid(Derived) ? number : found, ++number), ...);
            number = 0;
            if (found == kCount)
                ((found = found == kCount && dynamic_cast<const Derived*>(&value) != nullptr ? number : found,
                  ++number),
                 ...);
#endif
        }
        return found;
    }
    template <class Actual>
    static const Actual& as(const Base& value) {
        if constexpr (requires { static_cast<const Actual&>(value); }) {
            const Base* object = &value;
            // Hides the object behind the pointer: if g++ 12 sees it, it warns of classes that the object
            // does not have.
            SP_DETAIL_FORGET(object);
            return static_cast<const Actual&>(*object);
        } else {  // a virtual base
            return dynamic_cast<const Actual&>(value);
        }
    }
    // Calls visit with the object as its dynamic type; false if its class is not in the list.
    static bool visit(const Base& value, unsigned index, auto&& visit) {
        // Hides the object behind the reference: g++ 12 warns of classes that the object does not have.
        const Base* object = &value;
        SP_DETAIL_FORGET(object);
        unsigned number = 0;
        bool found = false;
        ((number++ == index ? (visit(as<Derived>(*object)), found = true) : false), ...);
        return found;
    }
    static ClassName::Text name([[maybe_unused]] const Base& value) {
#ifdef __cpp_rtti
        return ClassName::text(typeid(value).name());
#else
        return {};
#endif
    }

    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add('/');
        (Alternative<Derived>::sign(out), ...);
        out.add(kIsNamed ? 's' : 'n');
        out.add('|');
    }
    static constexpr bool kIsSteady = false;
    template <std::size_t kAfter, class Room>
    static char* walk(Room& room, char* out, const Base& value) {
        const unsigned index = index_of(value);
        out = room.fit(out, 1 + kAfter);
        if (out == nullptr) return nullptr;
        out = put_bytes(out, static_cast<unsigned char>(index));
        const bool known = visit(value, index, [&]<class Actual>(const Actual& object) {
            if constexpr (std::same_as<Actual, Base>) {
                out = StructCodec<Actual>::template walk<kAfter>(room, out, object);
            } else {
                out = Within<Actual>::template put<kAfter>(room, out, object);
            }
        });
        return !known && kIsNamed ? Within<ClassName::Text>::template put<kAfter>(room, out, name(value))
                                  : out;
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const Base& value) {
        bool whole = true;
        const bool known = visit(value, index_of(value), [&]<class Actual>(const Actual& object) {
            if constexpr (std::same_as<Actual, Base>) {
                whole = put_members(out, object);
            } else {
                whole = put_item(out, object);
            }
        });
        if (known) return whole;
        if (!kIsNamed) return out.null(), true;
        const ClassName::Text text = name(value);
        return out.text(text.data, text.size);
    }
};

template <class Base>
struct DynamicPointerCodec {
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) {
        out.add('?');
        Codec<Base>::sign(out);
    }
    static constexpr bool kIsSteady = false;
    template <std::size_t kAfter, class Room>
    static char* walk(Room& room, char* out, const Base* value) {
        out = room.fit(out, 1 + kAfter);
        if (out == nullptr) return nullptr;
        out = put_bytes(out, value != nullptr);
        return value == nullptr ? out : Within<Base>::template put<kAfter>(room, out, *value);
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const Base* value) {
        if (value == nullptr) return out.null(), true;
        return put_item(out, *value);
    }
};

SP_DETAIL_END

// The list has a name outside of the namespace, where the classes' names have the user's meaning.
#define SP_DYNAMIC(base, ...) SP_DETAIL_DYNAMIC(SP_DETAIL_JOIN(sp_dynamic_, __COUNTER__), base, __VA_ARGS__)
#define SP_DETAIL_DYNAMIC(list, base, ...)                               \
    using list = ::silverpoint::detail::DynamicCodec<base, __VA_ARGS__>; \
    template <>                                                          \
    struct silverpoint::detail::Codec<base> : list {};                   \
    template <>                                                          \
    struct silverpoint::detail::Codec<base*> : list::Pointer {};         \
    template <>                                                          \
    struct silverpoint::detail::Codec<const base*> : list::Pointer {};
