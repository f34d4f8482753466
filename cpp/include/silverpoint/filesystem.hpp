// Paths, entries of directories, and files' types and permissions, from <filesystem>.
//
// | type | recorded as |
// |---|---|
// | path | text, as the system has it |
// | directory_entry | its path |
// | file_type | enumeration with names |
// | perms | text as `ls` writes it: rwxr-xr-x |
// | file_status | a record of type and permissions |
// | space_info | a record of capacity, free and available bytes |
//
// Recording asks the system nothing.
#pragma once

#include <filesystem>

#include "detail/short_text.hpp"
#include "silverpoint.hpp"

SP_ENUM(std::filesystem::file_type, none, not_found, regular, directory, symlink, block, character, fifo,
        socket, unknown)
SP_STRUCT_OF(std::filesystem::space_info, (capacity, SP_UNIT(v.capacity, "B")), (free, SP_UNIT(v.free, "B")),
             (available, SP_UNIT(v.available, "B")))

SP_DETAIL_BEGIN

struct PermissionsText {
    static ShortText<9> text(std::filesystem::perms perms) {
        ShortText<9> out;
        const auto bits = static_cast<unsigned>(perms);
        if (perms == std::filesystem::perms::unknown) {
            out.add("unknown");
            return out;
        }
        for (unsigned who = 3; who-- > 0;) {
            const unsigned own = bits >> (3 * who);
            // Set user id, set group id, and sticky stand in the place of the permission to execute.
            const bool special = (bits >> (9 + who) & 1) != 0;
            const bool executes = (own & 1) != 0;
            out.add((own & 4) != 0 ? 'r' : '-');
            out.add((own & 2) != 0 ? 'w' : '-');
            const char mark = who == 0 ? 't' : 's';
            out.add(!special ? (executes ? 'x' : '-') : executes ? mark : static_cast<char>(mark - 32));
        }
        return out;
    }
};

template <>
struct Codec<std::filesystem::perms> : ShortTextCodec<std::filesystem::perms, PermissionsText> {};

template <class T>
struct PathCodec {
    using Native = std::filesystem::path::string_type;
    using Like = Native;
    static constexpr bool kIsWhole = true;
    static const Native& native(const std::filesystem::path& path) { return path.native(); }
    static const Native& native(const std::filesystem::directory_entry& entry) {
        return entry.path().native();
    }
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { Codec<Native>::sign(out); }
    using Taken = TextRef<Native::value_type>;
    static Taken take(const T& value) { return Capture<Native>::of(native(value)); }
    template <class Writer>
    static bool put_cbor(Writer& out, const T& value) {
        return put_item(out, native(value));
    }
};
template <>
struct Codec<std::filesystem::path> : PathCodec<std::filesystem::path> {};
template <>
struct Codec<std::filesystem::directory_entry> : PathCodec<std::filesystem::directory_entry> {};
template <>
inline constexpr bool kIsKnown<std::filesystem::file_status> = true;

SP_DETAIL_END

SP_STRUCT_OF(std::filesystem::file_status, (type, v.type()), (permissions, v.permissions()))
