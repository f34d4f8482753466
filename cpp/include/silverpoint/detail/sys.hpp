// The few functions of the operating system that the frontend needs, without allocation or locks, so that
// they may run in a signal handler.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstring>

#include "../platform/clock.hpp"
#include "../platform/environment.hpp"
#include "../platform/files.hpp"
#include "../platform/locks.hpp"
#include "../platform/memory.hpp"
#include "../platform/process.hpp"
#include "../platform/threads.hpp"
#include "../platform/waiting.hpp"
#include "config.hpp"

SP_DETAIL_BEGIN

// Text of bounded length; the rest is left out.
template <std::size_t Length>
class Text {
  public:
    SP_DETAIL_NOINLINE_COLD Text& add(const char* text, std::size_t len) {
        if (len > Length - len_) len = Length - len_;
        std::memcpy(text_ + len_, text, len);
        len_ += len;
        text_[len_] = 0;
        return *this;
    }
    SP_DETAIL_NOINLINE_COLD Text& add(const char* text) { return add(text, std::strlen(text)); }
    SP_DETAIL_NOINLINE_COLD Text& number(std::uint64_t value) {
        char digits[20];
        unsigned at = sizeof digits;
        do digits[--at] = static_cast<char>('0' + value % 10);
        while ((value /= 10) != 0);
        return add(digits + at, sizeof digits - at);
    }
    void cut(std::size_t len) { text_[len_ = len] = 0; }
    const char* c_str() const { return text_; }
    std::size_t size() const { return len_; }

  private:
    std::size_t len_ = 0;
    char text_[Length + 1] = {};
};

using Path = Text<1100>;

SP_DETAIL_COLD void warn(const char* text) {
    const SystemGuard guard;
    Text<640> line;
    line.add("silverpoint: ").add(text).add("\n");
    write_error_output(line.c_str(), line.size());
}

// FNV-1a, 64 bits; for several pieces it continues from the previous result.
SP_DETAIL_COLD std::uint64_t fnv1a(const char* bytes, std::size_t size,
                                   std::uint64_t hash = 0xcbf29ce484222325u) {
    for (std::size_t i = 0; i < size; ++i)
        hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3u;
    return hash;
}

SP_DETAIL_END
