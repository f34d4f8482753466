// Arguments without their types: the cold path is compiled once, not for each combination of types.
//
//     record_slowly<Ts...> ─▶ for each the address of its value, and a table of its type ─▶ reserve, copy
//
// A table has a function for each thing that depends on the type. It is compiled once for a type.
#pragma once

#include "hand_over.hpp"
#include "scratch.hpp"

SP_DETAIL_BEGIN

constexpr std::size_t round_up_8(std::size_t size) { return (size + 7) & ~std::size_t{7}; }

struct BytesRef;

// Units that lie one after the other, with their number before them: these can be cut.
template <class T>
inline constexpr bool kIsUnits = false;
template <class Char>
inline constexpr bool kIsUnits<TextRef<Char>> = true;
template <class T>
inline constexpr bool kIsUnits<ArrayRef<T>> = kIsPlain<T>;
template <>
inline constexpr bool kIsUnits<BytesRef> = true;

// So many bytes of units: `room` has a place for some of them and two lengths.
SP_DETAIL_COLD bool put_units_cut(char*& out, const void* data, std::size_t count, std::size_t unit,
                                  std::size_t room, bool& cut) {
    if (room < 8 || data == nullptr) return false;
    const std::size_t kept = (room - 8) / unit;
    out = put_length(out, kept | kCut);
    out = put_length(out, count - kept < 0xFFFFFFFF ? count - kept : 0xFFFFFFFF);
    std::memcpy(out, data, kept * unit);
    out += kept * unit;
    cut = true;
    return true;
}

template <class T>
inline constexpr bool kHasMetadata = requires { typename CodecOf<T>::Of; };

// What the cold path does with values of a type.
template <class T>
struct ArgumentCode {
    static const T& as(const void* value) { return *static_cast<const T*>(value); }

    // Of flat ones.
    static std::size_t size(const void* value) { return Fields<T>::size(as(value)); }
    static char* put(char* out, const void* value) { return Fields<T>::put(out, as(value)); }
    // Of those that are cut to `room` bytes if they are longer: text and numbers. Others are complete or left
    // out.
    static bool put_cut(char*& out, const void* value, std::size_t room, bool& cut) {
        if (const std::size_t whole = size(value); whole <= room) {
            out = put(out, value);
            return true;
        }
        if constexpr (kHasMetadata<T>) {
            using Inner = std::remove_cvref_t<decltype(as(value).value)>;
            const auto& inner = as(value).value;
            return ArgumentCode<Inner>::put_cut(out, __builtin_addressof(inner), room, cut);
        } else if constexpr (kIsUnits<T>) {
            const T& units = as(value);
            if constexpr (requires { units.count; }) {
                return put_units_cut(out, units.first, units.count, sizeof *units.first, room, cut);
            } else {
                return put_units_cut(out, units.data, units.size, sizeof *units.data, room, cut);
            }
        } else {
            return false;
        }
    }

    static bool is_cut(const void* value) { return CutBefore<T>::is_cut(as(value)); }

    // Of those that are not flat.
    static char* evaluate(Scratch& scratch, char* out, const void* value) {
        return Within<T>::put(scratch, out, as(value));
    }
};

struct ArgumentType {
    std::size_t fixed;  // bytes of every value, or kVaries
    std::size_t (*size)(const void* value);
    char* (*put)(char* out, const void* value);
    bool (*put_cut)(char*& out, const void* value, std::size_t room, bool& cut);
    char* (*evaluate)(Scratch& scratch, char* out, const void* value);  // null: it is flat
    bool (*is_cut)(const void* value);                                  // before it is recorded; null: never

    template <class T>
    static constexpr ArgumentType of() {
        using Code = ArgumentCode<T>;
        ArgumentType made{CodecOf<T>::fixed, nullptr, nullptr, nullptr, nullptr, nullptr};
        if constexpr (!kIsFlat<T>) {
            made.evaluate = Code::evaluate;
        } else {
            made.put = Code::put;
            if constexpr (CodecOf<T>::fixed == kVaries) {
                made.size = Code::size;
                if constexpr (kIsUnits<T> || kHasMetadata<T>) made.put_cut = Code::put_cut;
            }
        }
        if constexpr (CutBefore<T>::kMayBe) made.is_cut = Code::is_cut;
        return made;
    }
};
template <class T>
inline constexpr ArgumentType kArgumentType = ArgumentType::of<T>();

// A value; once it is evaluated, its bytes.
struct AnyArgument {
    const void* value;
    const ArgumentType* type;
    std::size_t packed = kVaries;  // of its bytes

    template <class T>
    static AnyArgument of(const T& value) {
        return {__builtin_addressof(value), &kArgumentType<T>};
    }
    bool varies() const { return type->fixed == kVaries; }
    std::size_t size() const {
        return !varies() ? type->fixed : packed != kVaries ? packed : type->size(value);
    }
    char* put(char* out) const {
        if (packed == kVaries) return type->put(out, value);
        std::memcpy(out, value, packed);
        return out + packed;
    }
    bool put_cut(char*& out, std::size_t room, bool& cut) const {
        if (size() <= room) {
            out = put(out);
            return true;
        }
        return packed == kVaries && type->put_cut != nullptr && type->put_cut(out, value, room, cut);
    }
};

struct AnyArguments {
    AnyArgument* first;
    std::size_t count;

    AnyArgument* begin() const { return first; }
    AnyArgument* end() const { return first + count; }
    std::size_t size() const {
        std::size_t total = 0;
        for (const AnyArgument& one : *this) total += one.size();
        return total;
    }
    char* put(char* out) const {
        for (const AnyArgument& one : *this) out = one.put(out);
        return out;
    }
    bool are_flat() const {
        for (const AnyArgument& one : *this)
            if (one.type->evaluate != nullptr) return false;
        return true;
    }
    bool are_cut() const {
        for (const AnyArgument& one : *this)
            if (one.type->is_cut != nullptr && one.type->is_cut(one.value)) return true;
        return false;
    }
    bool are_evaluated() const {
        for (const AnyArgument& one : *this)
            if (one.packed == kVaries) return false;
        return true;
    }
    bool vary() const {
        for (const AnyArgument& one : *this)
            if (one.varies()) return true;
        return false;
    }
};

// Evaluates what is not flat, each once and in order. False: a value does not fit, or is not as its type
// says.
inline bool evaluate(Scratch& scratch, AnyArguments args) {
    char* out = scratch.begin();
    for (AnyArgument& one : args) {
        if (one.type->evaluate == nullptr) continue;
        const std::size_t before = scratch.mark(out);
        out = one.type->evaluate(scratch, out, one.value);
        if (out == nullptr) return false;
        one.packed = scratch.mark(out) - before;
        if (!one.varies() && one.packed != one.type->fixed) return scratch.refuse() != nullptr;
    }
    // Now that it does not move any more.
    std::size_t at = 0;
    for (AnyArgument& one : args) {
        if (one.type->evaluate == nullptr) continue;
        one.value = scratch.at(at);
        at += one.packed;
    }
    return true;
}

// A record that is larger than any ring accepts: cut, or lost with its cause.
SP_DETAIL_COLD void record_cut(const Entry& entry, std::uint32_t site, Level level, AnyArguments args) {
    // The largest size of ring that this session can have decides.
    std::size_t most = 0;
    for (unsigned size = 0; size < kSizes; ++size)
        if (capacity_of(size) / 4 > most) most = (capacity_of(size) / 4) & ~std::size_t{7};
    if (most > kRecordMax) most = kRecordMax;
    std::size_t fixed = 0, varying = 0;
    for (const AnyArgument& one : args) {
        if (one.varies()) {
            ++varying;
        } else {
            fixed += one.type->fixed;
        }
    }
    std::size_t shorts = 0, longs = 0;
    const std::size_t share = most > 16 + fixed && varying > 0 ? (most - 16 - fixed) / varying : 0;
    for (const AnyArgument& one : args) {
        if (!one.varies()) continue;
        if (const std::size_t size = one.size(); size <= share) {
            shorts += size;
        } else {
            ++longs;
        }
    }
    const std::size_t room = longs == 0 ? share : (most - 16 - fixed - shorts) / longs & ~std::size_t{7};
    const Reservation found = reserve({nullptr, entry.frame}, most, level);
    if (found.at == nullptr) {
        // The ring is smaller than the session allows, and a larger one is not available.
        if (found.lane != nullptr) count_loss(*found.lane, Cause::kTooLarge);
        return;
    }
    char* out = found.at + 16;
    bool cut = false;
    for (const AnyArgument& one : args) {
        const auto left = most - static_cast<std::size_t>(out - found.at);
        const std::size_t its = !one.varies() ? left : one.size() <= share ? share : room;
        if (one.put_cut(out, its < left ? its : left, cut)) continue;
        count_loss(*found.lane, Cause::kTooLarge);
        make_ready(found.lane);
        return;
    }
    const std::size_t size = round_up_8(static_cast<std::size_t>(out - found.at));
    std::memset(out, 0, static_cast<std::size_t>(found.at + size - out));
    const std::uint32_t words[2] = {static_cast<std::uint32_t>(size) | (cut ? kTruncated : 0), site};
    std::memcpy(found.at, words, 8);
    const std::uint64_t ticks = session.now();
    std::memcpy(found.at + 8, &ticks, 8);
    commit_slowly(found.lane, found.at, size);
}

// Every session's largest ring accepts records of this size, unless memory was refused for most of it.
inline constexpr std::size_t kAlwaysFits = 8192;

// A record of so few bytes, which are packed: all rings have a place for them. Returns its ticks, 0 if it was
// lost. (Not cold: a thread whose ring grows comes here often.)
inline constexpr std::size_t kFewBytes = 256;
SP_DETAIL_NOINLINE inline std::uint64_t record_few_bytes(const Entry& entry, std::uint64_t head,
                                                         const Site& site, const char* bytes,
                                                         std::size_t count) {
    const std::size_t size = round_up_8(16 + count);
    const Reservation found = reserve(entry, size, site.level);
    if (found.at == nullptr) {
        if (found.lane != nullptr) count_loss(*found.lane, Cause::kTooLarge);
        return 0;
    }
    const std::uint64_t ticks = session.now();
    // The tail first, as in pack (record.hpp).
    put_bytes(found.at + size - 8, std::uint64_t{0});
    put_bytes(put_bytes(found.at, (head & ~std::uint64_t{0xFFFFFF}) | size), ticks);
    put_block(found.at + 16, bytes, count);
    commit_slowly(found.lane, found.at, size);
    return ticks;
}

// A record of arguments that are flat or evaluated, of so many bytes. Returns its ticks, 0 if it was lost (or
// cut).
SP_DETAIL_NOINLINE inline std::uint64_t record_evaluated_arguments(const Entry& entry, std::uint64_t head,
                                                                   const Site& site, AnyArguments args,
                                                                   std::size_t bytes) {
    const std::size_t size = round_up_8(16 + bytes);
    const Reservation found = reserve(entry, size, site.level);
    if (found.at == nullptr) {
        if (found.lane == nullptr) return 0;
        if (args.vary() || bytes > kAlwaysFits) {
            record_cut(entry, static_cast<std::uint32_t>(head >> 32), site.level, args);
        } else {
            count_loss(*found.lane, Cause::kTooLarge);
        }
        return 0;
    }
    const std::uint64_t ticks = session.now();
    // The tail first, as in pack (record.hpp).
    put_bytes(found.at + size - 8, std::uint64_t{0});
    put_bytes(put_bytes(found.at, (head & ~std::uint64_t{0xFFFFFF}) | size), ticks);
    [[maybe_unused]] const char* const end = args.put(found.at + 16);
#if defined(SILVERPOINT_CHECKS)
    if (round_up_8(static_cast<std::size_t>(end - found.at)) != size) SP_DETAIL_TRAP();
#endif
    commit_slowly(found.lane, found.at, size);
    return ticks;
}

// A record of arguments of which some may run code of the program: they are evaluated before it.
SP_DETAIL_COLD std::uint64_t record_unevaluated_arguments(const Entry& entry, std::uint64_t head,
                                                          const Site& site, AnyArguments args) {
    Scratch scratch;
    if (!evaluate(scratch, args)) {
        lose(entry, scratch.cause());
        return 0;
    }
    return record_evaluated_arguments(entry, scratch.is_cut() ? head | kTruncated : head, site, args,
                                      args.size());
}

SP_DETAIL_END
