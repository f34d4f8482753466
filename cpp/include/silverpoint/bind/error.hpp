// An error of writing or reading a value: where it happened, what was found, what was expected. No
// exceptions: a result object, a pointer wide, empty on success.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "../detail/config.hpp"

#define SP_BIND_BEGIN                      \
    namespace silverpoint {                \
    inline namespace v1 SP_DETAIL_HIDDEN { \
    namespace binding {
#define SP_BIND_END \
    }               \
    }               \
    }

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// Thread-safe: any thread may read it. Cost: text() allocates.
struct SP_DETAIL_VISIBLE BindError {
    enum class Kind : std::uint8_t {
        kSyntax,     // not the format
        kTruncated,  // the input ends within a value
        kType,       // another type than the program's
        kRange,      // a number or a text that the type does not hold
        kMissing,    // a member that must be there is not
        kUnknown,    // a member that the type does not have
        kDuplicate,  // a member or a key twice
        kText,       // not Unicode
        kDepth,      // nested deeper than the limit
        kNotFinite,  // NaN or infinite, where the writer refuses them
        kRefused,    // by the program's own conversion (Bind<T>::from)
        kTrailing,   // something behind the value
        kMemory,     // no memory
        kSink        // the receiver of the output refused it
    };
    Kind kind = Kind::kSyntax;
    std::size_t offset = 0;  // bytes before the place, in input or output
    std::size_t line = 0;    // of texts, from 1; 0: a binary format
    std::size_t column = 0;  // of texts, in bytes, from 1
    std::string path;        // `.orders[3].price`; empty: the value itself
    std::string found;
    std::string expected;

    // All of it in one line.
    SP_DETAIL_OWN std::string text() const {
        std::string out = "byte " + std::to_string(offset);
        if (line != 0) out += " (line " + std::to_string(line) + ", column " + std::to_string(column) + ')';
        if (!path.empty()) out += ", in " + path;
        out += ": found " + found + ", expected " + expected;
        return out;
    }
};

// True when all is well.
// Thread-safe: any thread may read it. Cost: a pointer; an error is an allocation.
class [[nodiscard, gnu::visibility("default")]] BindResult {
  public:
    BindResult() = default;
    SP_DETAIL_OWN explicit BindResult(std::unique_ptr<BindError> error) : error_(std::move(error)) {}
    SP_DETAIL_OWN explicit operator bool() const { return error_ == nullptr; }
    SP_DETAIL_OWN bool ok() const { return error_ == nullptr; }
    // Only when there is one.
    SP_DETAIL_OWN const BindError& error() const { return *error_; }
    // The error in one line; empty when all is well.
    SP_DETAIL_OWN std::string text() const { return error_ == nullptr ? std::string() : error_->text(); }

  private:
    std::unique_ptr<BindError> error_;
};

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

SP_BIND_BEGIN

// At most this many characters of a hostile text are repeated in an error, and bytes of a name in a path.
inline constexpr std::size_t kQuoted = 40, kName = 64;

// The beginning of a text as JSON has it, in quotes.
inline std::string quoted(std::string_view text) {
    std::string out = "\"";
    std::size_t count = 0;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte & 0xC0) != 0x80 && count++ == kQuoted) break;
        if (byte < 0x20 || byte == 0x7F) {
            constexpr std::string_view kShort = "btn?fr";
            if (byte >= 8 && byte <= 13 && byte != 11) {
                out += '\\';
                out += kShort[byte - 8];
                continue;
            }
            out += "\\u00";
            out += "0123456789abcdef"[byte >> 4];
            out += "0123456789abcdef"[byte & 15];
        } else {
            if (byte == '"' || byte == '\\') out += '\\';
            out += c;
        }
    }
    return out + '"';
}

// A byte that cannot stand where it does.
inline std::string shown_byte(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7F) return std::string("'") + c + '\'';
    return std::string("the byte 0x") + "0123456789abcdef"[byte >> 4] + "0123456789abcdef"[byte & 15];
}

inline std::string in_ticks(std::string_view name) { return '`' + std::string(name.substr(0, kName)) + '`'; }

// Puts a step in front of a path: errors rise from the innermost value.
inline void step_into(BindError& error, std::string_view member) {
    error.path.insert(0, '.' + std::string(member.substr(0, kName)));
}
inline void step_into(BindError& error, std::size_t index) {
    error.path.insert(0, '[' + std::to_string(index) + ']');
}

SP_BIND_END
