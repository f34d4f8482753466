// Types that contain themselves: trees, linked nodes, documents.
//
//   struct Node { std::string name; std::vector<Node> children; std::unique_ptr<Node> next; };
//   SP_RECURSIVE(Node, name, children, next)          at global scope, instead of SP_STRUCT
//   SP_INFO("tree {}", root);
//
// A signature is finite, so such a value is recorded as one item that carries its types itself (CBOR, type
// `v`): with the names of the members in each node, made on the stack, 4,000 bytes of it, and without an
// allocation. Down to a depth of 8; what lies deeper is `…`. What does not fit is recorded down to a smaller
// depth, at last as `…` alone. This costs a walk over the value and several times what a described struct
// costs. A ring of pointers ends at the depth, too.
#pragma once

#include "silverpoint.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {
// Specialised by SP_RECURSIVE.
template <class T>
inline constexpr bool kIsRecursive = false;
}  // namespace gnu::visibility("hidden")
}  // namespace silverpoint

SP_DETAIL_BEGIN

// One CBOR item with room of its own.
struct Item {
    static constexpr std::size_t kRoom = 4000;
    std::size_t size = 0;
    char data[kRoom];
};

template <>
struct Codec<Item> {
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('v'); }
    static std::size_t size(const Item& item) { return 4 + item.size; }
    static char* put(char* out, const Item& item) {
        return put_block(put_length(out, item.size), item.data, item.size);
    }
};

template <Described T>
    requires kIsRecursive<T>
struct Codec<T> {
    static constexpr unsigned kDepth = 8;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('v'); }
    static void fill(Item& item, const T& value) {
        for (unsigned depth = kDepth; depth > 0; depth /= 2) {
            CborWriter out(item.data, item.data + Item::kRoom);
            out.deeper = depth;
            put_item(out, value);
            item.size = static_cast<std::size_t>(out.at() - item.data);
            if (out.has_room()) return;
        }
        CborWriter out(item.data, item.data + Item::kRoom);
        mark(out);
        item.size = static_cast<std::size_t>(out.at() - item.data);
    }
    static std::size_t size(const T& value) {
        Item item;
        fill(item, value);
        return Codec<Item>::size(item);
    }
    static char* put(char* out, const T& value) {
        Item item;
        fill(item, value);
        return Codec<Item>::put(out, item);
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& value) {
        if (out.deeper == 0) return mark(out), false;
        --out.deeper;
        bool whole = true;
        std::size_t number = 0;
        const auto put = [&](const auto& part) {
            if (out.has_room()) whole = put_item(out, part) && whole;
        };
        out.begin_map();
        Struct<T>::visit(
            value, [&](const auto&... members) { ((put(Struct<T>::kNames[number++]), put(members)), ...); });
        out.end();
        ++out.deeper;
        return whole;
    }

  private:
    static void mark(auto& out) { out.text("\u2026", 3); }
};

// Made once for a record.
template <Described T>
    requires kIsRecursive<T>
struct Capture<T> {
    using type = Item;
    static Item of(const T& value) {
        Item item;
        Codec<T>::fill(item, value);
        return item;
    }
};

SP_DETAIL_END

#define SP_RECURSIVE(type, ...)                                   \
    template <>                                                   \
    inline constexpr bool silverpoint::kIsRecursive<type> = true; \
    SP_STRUCT(type, __VA_ARGS__)
