// How the members of a class are read: by name, in any order. Missing, unknown and double ones are mistakes,
// unless the type says otherwise.
#pragma once

#include "input.hpp"
#include "write.hpp"

SP_BIND_BEGIN

template <class Source, class T>
bool get_value(Source& in, T& value);

// The number of the member of that name. The likely one is tried first. Rests have none.
template <class T>
std::size_t find_member(std::string_view name, std::size_t likely) {
    constexpr std::size_t kCount = Struct<T>::kFields;
    const auto is = [&](std::size_t index) {
        const std::string_view own = Struct<T>::kNames[index];
        return own.size() == name.size() && __builtin_memcmp(own.data(), name.data(), name.size()) == 0;
    };
    if (likely < kCount && is(likely)) return likely;
    for (std::size_t index = 0; index < kCount; ++index)
        if (is(index)) return index;
    return kCount;
}

// Members that must be there, as bits.
template <class T, class... Ms>
constexpr std::uint64_t needed_members() {
    std::uint64_t needed = 0, bit = 1;
    ((needed |= kMayMiss<std::remove_cvref_t<Ms>> ? 0 : bit, bit <<= 1), ...);
    if constexpr (requires { Defaults<T>::kNames; }) {
        for (const std::string_view name : Defaults<T>::kNames)
            if (const std::size_t index = member_of<Struct<T>>(name); index < Struct<T>::kFields)
                needed &= ~(std::uint64_t{1} << index);
    }
    return needed;
}

// `a`, `b`
inline std::string listed(const std::string_view* names, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) {
        if (i == 40) return out + ", …";
        out += (i == 0 ? "" : ", ") + in_ticks(names[i]);
    }
    return out;
}

template <class Thing>
void make_empty(Thing& member) {
    if constexpr (kSort<Thing> == Sort::kOptional) member.reset();
    if constexpr (kSort<Thing> == Sort::kOwner) member = nullptr;
}

// Reads a member that the type does not have.
template <class Source>
bool get_unknown(Source& in, Rest* rest, std::string_view key) {
    std::string name(key);
    if (rest == nullptr) return in.skip() || in.within(std::string_view(name));
    Raw value;
    if (!get_value(in, value)) return in.within(std::string_view(name));
    rest->members.emplace_back(std::move(name), std::move(value));
    return true;
}

template <class Source, class T, std::size_t... Index, class... Ms>
bool get_members(Source& in, std::index_sequence<Index...> all, Ms&&... members) {
    static_assert(
        ((std::is_lvalue_reference_v<Ms> && !std::is_const_v<std::remove_reference_t<Ms>>)&&...),
        "silverpoint: a member of this type is computed or constant, and cannot be read back; name members "
        "themselves (v.member), or say by silverpoint::Bind<Type> how it is made");
    static_assert(sizeof...(Index) <= 64);
    constexpr std::uint64_t kNeeded = needed_members<T, Ms...>();
    Rest* rest = nullptr;
    [[maybe_unused]] const auto look = [&](auto& member) {
        if constexpr (kIsRest<decltype(member)>) {
            member.members.clear();
            rest = &member;
        }
    };
    (look(members), ...);
    typename Source::State state;
    if (!in.enter_map(state)) return false;
    std::uint64_t seen = 0;
    // As long as members come in the order of declaration, a name is compared as a whole, word by word.
    [[maybe_unused]] const auto in_order = [&]<std::size_t kIndex>(
                                               std::integral_constant<std::size_t, kIndex>, auto& member) {
        if constexpr (kIsRest<decltype(member)>) {
            return true;
        } else {
            if (!in.template next_is<T, kIndex>(state)) return false;
            seen |= std::uint64_t{1} << kIndex;
            return get_value(in, member) || in.within(Struct<T>::kNames[kIndex]);
        }
    };
    (void)(in_order(std::integral_constant<std::size_t, Index>{}, members) && ...);
    std::size_t likely = static_cast<std::size_t>(__builtin_popcountll(seen));
    while (!in.failed() && in.next_member(state)) {
        const char* const at = in.start();
        std::string_view key;
        if (!in.key(key)) return false;
        const std::size_t index = find_member<T>(key, likely);
        bool is_own = false;
        [[maybe_unused]] const auto read = [&]<std::size_t kIndex>(
                                               std::integral_constant<std::size_t, kIndex>, auto& member) {
            if constexpr (!kIsRest<decltype(member)>) {
                is_own = true;
                constexpr std::uint64_t bit = std::uint64_t{1} << kIndex;
                if ((seen & bit) != 0)
                    return in.fail(BindError::Kind::kDuplicate, at,
                                   "the member " + in_ticks(Struct<T>::kNames[kIndex]) + " again",
                                   "each member once");
                seen |= bit;
                return get_value(in, member) || in.within(Struct<T>::kNames[kIndex]);
            }
            return true;
        };
        bool good = true;
        (void)((index == Index &&
                ((good = read(std::integral_constant<std::size_t, Index>{}, members)), true)) ||
               ...);
        if (!good) return false;
        if (!is_own) {
            if (rest == nullptr && (kRefusesUnknown<T> || in.options().refuses_unknown))
                return in.fail(BindError::Kind::kUnknown, at, "the member " + in_ticks(key),
                               "one of " + listed(Struct<T>::kNames, Struct<T>::kFields));
            if (!get_unknown(in, rest, key)) return false;
        }
        likely = index + 1;
    }
    if (in.failed()) return false;
    constexpr std::uint64_t kAll =
        sizeof...(Index) == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << sizeof...(Index)) - 1;
    if (seen == kAll) [[likely]]
        return true;
    if (const std::uint64_t missing = kNeeded & ~seen; missing != 0 && !in.options().allows_missing) {
        const std::string name = in_ticks(Struct<T>::kNames[__builtin_ctzll(missing)]);
        return in.fail(BindError::Kind::kMissing, in.end_of_map(), "an object without " + name,
                       "the member " + name);
    }
    if (!in.options().allows_missing) {
        [[maybe_unused]] const auto empty = [&]<std::size_t kIndex>(
                                                std::integral_constant<std::size_t, kIndex>, auto& member) {
            if ((seen >> kIndex & 1) == 0) make_empty(member);
        };
        if constexpr (!requires { Defaults<T>::kNames; }) {
            (empty(std::integral_constant<std::size_t, Index>{}, members), ...);
        } else {
            [[maybe_unused]] const auto not_kept =
                [&]<std::size_t kIndex>(std::integral_constant<std::size_t, kIndex> index, auto& member) {
                    for (const std::string_view name : Defaults<T>::kNames)
                        if (name == Struct<T>::kNames[kIndex]) return;
                    empty(index, member);
                };
            (not_kept(std::integral_constant<std::size_t, Index>{}, members), ...);
        }
    }
    (void)all;
    return true;
}

SP_BIND_END
