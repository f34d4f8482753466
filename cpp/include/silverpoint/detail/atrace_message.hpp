// What is written to trace_marker: one line a call, exactly as Android writes it.
//
//   B|pid|name   E|pid   I|pid|name   N|pid|track|name   C|pid|name|value
//   S|pid|name|cookie   F|pid|name|cookie   G|pid|track|name|cookie   H|pid|track|cookie
#pragma once

#include <charconv>
#include <string_view>

#include "config.hpp"

SP_DETAIL_BEGIN

// letter|pid, then each name after a |, cut so that everything fits, then the number after a |.
class AtraceMessage {
  public:
    // Bytes at most: what Android writes, and what every kernel takes in one piece.
    static constexpr std::size_t kMost = 1023;

    AtraceMessage(char letter, long process, const std::string_view* names, std::size_t count,
                  const std::int64_t* number) {
        bytes_[size_++] = letter;
        bytes_[size_++] = '|';
        decimal(process);
        const std::size_t tail = number != nullptr ? 21 : 0;
        for (std::size_t i = 0; i < count; ++i) {
            bytes_[size_++] = '|';
            // Each of those that are left has its share; what one does not need is the next one's.
            const std::size_t left = kMost - size_ - tail - (count - i - 1);
            put(names[i], left / (count - i));
        }
        if (number != nullptr) {
            bytes_[size_++] = '|';
            decimal(*number);
        }
    }
    std::string_view text() const { return {bytes_, size_}; }
    // With a newline, for a file.
    std::string_view line() {
        bytes_[size_] = '\n';
        return {bytes_, size_ + 1};
    }

  private:
    void decimal(std::int64_t number) {
        size_ = static_cast<std::size_t>(std::to_chars(bytes_ + size_, bytes_ + kMost, number).ptr - bytes_);
    }
    // What would end the name or the line is made harmless: | becomes /, a control character a space.
    void put(std::string_view name, std::size_t most) {
        std::size_t size = name.size();
        if (size > most) {
            size = most;
            // Not within a character.
            while (size > 0 && (static_cast<unsigned char>(name[size]) & 0xC0) == 0x80) --size;
        }
        for (std::size_t i = 0; i < size; ++i) {
            const auto byte = static_cast<unsigned char>(name[i]);
            bytes_[size_++] = byte == '|' ? '/' : byte < 0x20 || byte == 0x7F ? ' ' : name[i];
        }
    }

    char bytes_[kMost + 1];
    std::size_t size_ = 0;
};

SP_DETAIL_END
