// Which parts of ATrace are enabled, by Android's names of system properties.
//
//     debug.atrace.tags.enableflags=0x1002      tags, decimal, 0x... or octal behind a 0
//     debug.atrace.app_number=2                 how many of the following there are
//     debug.atrace.app_0=player                 these programs have the tag kApp, too; * is every one
//     debug.atrace.app_1=/usr/bin/server
//
// They are lines of a file, and environment variables of the same names. The variables take precedence.
// Cases, for every language: spec/vectors/atrace.tsv.
#pragma once

#include <cstdint>
#include <string_view>

#include "../platform/environment.hpp"
#include "../platform/files.hpp"
#include "config.hpp"

SP_DETAIL_BEGIN

inline constexpr unsigned kAtraceTags = 28;
inline constexpr std::uint64_t kAtraceValid = (std::uint64_t{1} << kAtraceTags) - 1;
inline constexpr std::uint64_t kAtraceApp = std::uint64_t{1} << 12;

// The value in the environment. Nothing in a program with more privileges than its caller; an empty variable
// counts as not set.
inline const char* atrace_environment(const char* name) {
    const char* value = environment(name);
    return value != nullptr && *value != 0 ? value : nullptr;
}

class AtraceProperties {
  public:
    using Environment = const char* (*)(const char*);

    // Reads a file's lines; null: no file is named.
    void read_file(const char* path) {
        is_named_ = path != nullptr;
        size_ = 0;
        if (path == nullptr) return;
        size_ = detail::read_file(path, file_, sizeof file_);
        if (size_ > kMostBytes) {
            const std::size_t end = std::string_view(file_, size_).rfind('\n');
            size_ = end == std::string_view::npos ? 0 : end;
        }
    }
    // The tags of a program that was called by this command. False: nothing is set.
    bool tags_of(std::string_view command, Environment environment, std::uint64_t& tags) const {
        const std::string_view flags_text = value_of(environment, "debug.atrace.tags.enableflags");
        const std::string_view count_text = value_of(environment, "debug.atrace.app_number");
        const std::uint64_t flags = number(flags_text);
        std::uint64_t apps = count(count_text);
        if (apps > kMostApps) apps = kMostApps;
        const std::string_view base = command.substr(command.rfind('/') + 1);
        bool is_app = false;
        for (std::uint64_t i = 0; i < apps && !is_app; ++i) {
            char name[40] = "debug.atrace.app_";
            if (i >= 10) name[17] = static_cast<char>('0' + i / 10);
            name[i >= 10 ? 18 : 17] = static_cast<char>('0' + i % 10);
            const std::string_view app = value_of(environment, name);
            is_app = !app.empty() && (app == "*" || app == command || app == base);
        }
        tags = 0;
        if (flags != 0 || is_app) tags = (flags | (is_app ? kAtraceApp : 0) | 1) & kAtraceValid;
        return is_named_ || !flags_text.empty() || !count_text.empty();
    }

  private:
    // A line that goes on beyond the bytes that were read is ignored: half a number would be another one.
    static constexpr std::size_t kMostBytes = 65536;
    // The most programs that are checked.
    static constexpr std::uint64_t kMostApps = 64;

    // The value of a property; the last line counts.
    std::string_view value_of(Environment environment, const char* name) const {
        if (const char* value = environment(name)) return value;
        const std::string_view text(file_, size_), wanted = name;
        std::string_view found;
        for (std::size_t at = 0; at < text.size();) {
            std::size_t end = text.find('\n', at);
            if (end == text.npos) end = text.size();
            std::string_view line = text.substr(at, end - at);
            at = end + 1;
            line = line.substr(0, line.find('#'));
            const std::size_t equals = line.find('=');
            if (equals != line.npos && trim(line.substr(0, equals)) == wanted)
                found = trim(line.substr(equals + 1));
        }
        return found;
    }
    static std::string_view trim(std::string_view text) {
        const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
        while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
        while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
        return text;
    }
    // As Android reads it (strtoull with base 0): hexadecimal behind 0x, octal behind 0, else decimal, with a
    // sign or not. 0 for an invalid number, and for the largest one, which Android treats as an overflow.
    static std::uint64_t number(std::string_view text) {
        const bool is_negative = text.starts_with('-');
        if (is_negative || text.starts_with('+')) text.remove_prefix(1);
        unsigned base = 10;
        if (text.starts_with("0x") || text.starts_with("0X")) {
            base = 16;
            text.remove_prefix(2);
        } else if (text.starts_with('0')) {
            base = 8;
        }
        constexpr std::uint64_t kOverflow = ~std::uint64_t{0};
        std::uint64_t sum = 0;
        for (const char c : text) {
            const char low = static_cast<char>(c | 0x20);
            const unsigned digit = c >= '0' && c <= '9'       ? static_cast<unsigned>(c - '0')
                                   : low >= 'a' && low <= 'f' ? static_cast<unsigned>(low - 'a') + 10
                                                              : 99;
            if (digit >= base || sum > (kOverflow - digit) / base) return 0;
            sum = sum * base + digit;
        }
        if (is_negative) sum = 0 - sum;
        return sum == kOverflow ? 0 : sum;
    }
    // The same for a count, which is an int on Android; 0 if it is invalid.
    static std::uint64_t count(std::string_view text) {
        const std::uint64_t all = number(text);
        return all <= 0x7FFFFFFF ? all : 0;
    }

    char file_[kMostBytes + 1];
    std::size_t size_ = 0;
    bool is_named_ = false;
};

// The program as it was called: its first argument.
inline std::string_view atrace_command(char (&buffer)[4096]) {
    buffer[read_file("/proc/self/cmdline", buffer, sizeof buffer - 1)] = 0;
    return buffer;
}

SP_DETAIL_END
