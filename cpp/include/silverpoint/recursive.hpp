// Types that contain themselves: trees, linked nodes, documents.
//
//     struct Node { std::string name; std::vector<Node> children; std::unique_ptr<Node> next; };
//     SP_RECURSIVE(Node, name, children, next)          at global scope, instead of SP_STRUCT
//     SP_INFO("tree {}", root);
//
// A signature is finite, so such a value is recorded as one item that carries its types itself (CBOR, type
// `v`). Each node has the names of the members. It is made on the stack, in 4,000 bytes, without an
// allocation. It is recorded down to a depth of 8; `…` stands for what lies deeper. If it does not fit, it is
// recorded down to a smaller depth, at last as `…` alone; the record is then marked as cut. This costs a walk
// over the value and several times what a described struct costs. A ring of pointers ends at the depth, too.
#pragma once

#include "silverpoint.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {
// Specialised by SP_RECURSIVE.
template <class T>
inline constexpr bool kIsRecursive = false;
}  // namespace SP_DETAIL_HIDDEN
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
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('v'); }
    static std::size_t size(const Item& item) { return 4 + item.size; }
    static char* put(char* out, const Item& item) {
        return put_block(put_length(out, item.size), item.data, item.size);
    }
};

// An item that knows whether something is missing.
struct FilledItem {
    Item item;
    bool is_whole = true;
};
template <>
struct Codec<FilledItem> {
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('v'); }
    static std::size_t size(const FilledItem& filled) { return Codec<Item>::size(filled.item); }
    static char* put(char* out, const FilledItem& filled) { return Codec<Item>::put(out, filled.item); }
};
template <>
struct CutBefore<FilledItem> {
    static constexpr bool kMayBe = true;
    static bool is_cut(const FilledItem& filled) { return !filled.is_whole; }
};

inline void put_ellipsis(CborWriter& out) { out.text("\u2026", 3); }

// A text that ends where there was no more room: `…` replaces its last characters.
inline void mark_cut_text(Item& item) {
    std::size_t at = item.size - 3;
    while ((static_cast<unsigned char>(item.data[at]) & 0xC0) == 0x80) --at;
    std::memcpy(item.data + at, "\u2026", 3);
    item.size = at + 3;
    const std::size_t len = item.size - 3;
    item.data[1] = static_cast<char>(len >> 8);
    item.data[2] = static_cast<char>(len & 0xFF);
}

// Makes an item of what `put` writes; `put` returns whether everything is there. If it does not fit, it is
// tried again less deep, and at last left out; a text or bytes alone are cut. False: something is missing for
// lack of room.
template <class Put>
bool fill_item(Item& item, const Put& put) {
    constexpr char kText = 0x79, kBytes = 0x59;
    constexpr unsigned kDepth = 8;
    for (unsigned depth = kDepth; depth > 0; depth /= 2) {
        CborWriter out(item.data, item.data + Item::kRoom);
        out.deeper = depth;
        const bool whole = put(out);
        item.size = static_cast<std::size_t>(out.at() - item.data);
        if (!out.has_room()) continue;
        // (A cut text leaves less than a character free; otherwise `whole` is about depth, which has its own
        // mark.)
        if (whole || item.size + 4 <= Item::kRoom) return depth == kDepth;
        if (item.data[0] == kText) return mark_cut_text(item), false;
        if (item.data[0] == kBytes) return false;
    }
    CborWriter out(item.data, item.data + Item::kRoom);
    put_ellipsis(out);
    item.size = static_cast<std::size_t>(out.at() - item.data);
    return false;
}

template <Described T>
    requires kIsRecursive<T>
struct Codec<T> {
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('v'); }
    // False: something is missing for lack of room.
    static bool fill(Item& item, const T& value) {
        return fill_item(item, [&](CborWriter& out) { return put_item(out, value); });
    }
    // (Members may be of any kind.)
    static constexpr bool kIsSteady = false;
    // Made once for a record.
    using Taken = FilledItem;
    static FilledItem take(const T& value) {
        FilledItem filled;
        filled.is_whole = fill(filled.item, value);
        return filled;
    }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& value) {
        if (out.deeper == 0) return out.text("\u2026", 3), false;
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
};

SP_DETAIL_END

#define SP_RECURSIVE(type, ...)                                   \
    template <>                                                   \
    inline constexpr bool silverpoint::kIsRecursive<type> = true; \
    SP_STRUCT(type, __VA_ARGS__)
