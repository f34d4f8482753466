// The text for trace_marker: one line a call, exactly as Android writes it.
//
//     B|pid|name   E|pid   I|pid|name   N|pid|track|name   C|pid|name|value
//     S|pid|name|cookie   F|pid|name|cookie   G|pid|track|name|cookie   H|pid|track|cookie
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "../platform/threads.hpp"
#include "config.hpp"

SP_DETAIL_BEGIN

// `|process` as this thread wrote it last: making it takes as long as the rest of a short message.
struct AtraceProcess {
    std::uint32_t of = 0;  // 0: none, or it is being made, and a signal handler has come in between
    std::uint32_t size = 0;
    char text[12] = {};
};
inline thread_local constinit AtraceProcess tls_atrace_process SP_DETAIL_THREAD_MODEL;

// letter|pid, then each name after a |, cut so that everything fits, then the number after a |.
class AtraceMessage {
  public:
    // The most bytes: what Android writes, and what every kernel accepts in one piece.
    static constexpr std::size_t kMost = 1023;
    // The most bytes of a track's name, in all of its messages, so that begin and end have the same name. It
    // leaves some for the name behind it.
    static constexpr std::size_t kTrack = 900;

    AtraceMessage(char letter, std::uint32_t process, const std::string_view* names, std::size_t count,
                  const std::int64_t* number) {
        AtraceProcess& known = tls_atrace_process;
        if (known.of != process || process == 0) [[unlikely]]
            make(known, process);
        bytes_[size_++] = letter;
        std::memcpy(bytes_ + size_, known.text, sizeof known.text);
        size_ += known.size;
        const std::size_t tail = number != nullptr ? kTail : 0;
        for (std::size_t i = 0; i < count; ++i) {
            bytes_[size_++] = '|';
            const std::size_t left = kMost - size_ - tail - (count - i - 1);
            const bool is_track = i == 0 && (letter == 'G' || letter == 'H' || letter == 'N');
            put(names[i], is_track && left > kTrack ? kTrack : left);
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
    SP_DETAIL_COLD void make(AtraceProcess& known, std::uint32_t process) {
        known.of = 0;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        bytes_[0] = '|';
        size_ = 1;
        decimal(process);
        std::memcpy(known.text, bytes_, sizeof known.text);
        known.size = static_cast<std::uint32_t>(std::exchange(size_, 0));
        std::atomic_signal_fence(std::memory_order_seq_cst);
        known.of = process;
    }
    // Up to twenty bytes behind the number may be written to. (Not std::to_chars: libstdc++'s static data in
    // it keeps a plug-in from being unloaded.)
    void decimal(std::int64_t number) {
        auto rest = static_cast<std::uint64_t>(number);
        if (number < 0) {
            bytes_[size_++] = '-';
            rest = 0 - rest;
        }
        char digits[2 * kDigits] = {};
        char* const end = digits + kDigits;
        char* at = end;
        const auto two = [&](std::uint64_t below_hundred) {
            *--at = static_cast<char>('0' + below_hundred % 10);
            *--at = static_cast<char>('0' + below_hundred / 10);
        };
        for (; rest >= 100; rest /= 100) two(rest % 100);
        if (rest >= 10) {
            two(rest);
        } else {
            *--at = static_cast<char>('0' + rest);
        }
        std::memcpy(bytes_ + size_, at, kDigits);
        size_ += static_cast<std::size_t>(end - at);
    }
    // Characters that would end the name or the line are replaced: | becomes /, a control character a space.
    void put(std::string_view name, std::size_t most) {
        std::size_t size = name.size();
        if (size > most) {
            // Not within a character; invalid UTF-8 has none.
            const auto goes_on = [&](std::size_t at) {
                return (static_cast<unsigned char>(name[at]) & 0xC0) == 0x80;
            };
            size = most;
            while (size > 0 && most - size < 3 && goes_on(size)) --size;
            if (goes_on(size)) size = most;
        }
        char* const to = bytes_ + size_;
        if (size >= 16) {
            if (!copy_plain(to, name.data(), size)) in_blocks<Sixteen>(to, name.data(), size);
        } else if (size >= 8)
            in_blocks<Eight>(to, name.data(), size);
        else
            for (std::size_t i = 0; i < size; ++i) {
                const auto byte = static_cast<unsigned char>(name[i]);
                to[i] = byte == '|' ? '/' : byte < 0x20 || byte == 0x7F ? ' ' : name[i];
            }
        size_ += size;
    }

    // The same, a block at a time; the last block overlaps the one before it.
    using Eight [[gnu::vector_size(8)]] = unsigned char;
    using Sixteen [[gnu::vector_size(16)]] = unsigned char;
    // Copies at least sixteen bytes, and returns whether all of them are harmless, by the least and the
    // greatest of them. False is possible for harmless bytes, too.
    static bool copy_plain(char* to, const char* from, std::size_t size) {
        const Sixteen none{}, first = none + static_cast<unsigned char>(' '),
                              last = none + static_cast<unsigned char>('|' - 1);
        Sixteen least = last, most = first;
        const auto copy = [&](std::size_t at) {
            Sixteen bytes;
            std::memcpy(&bytes, from + at, sizeof bytes);
            std::memcpy(to + at, &bytes, sizeof bytes);
            least = bytes < least ? bytes : least;
            most = bytes > most ? bytes : most;
        };
        std::size_t at = 0;
        for (; at + 2 * sizeof(Sixteen) <= size; at += 2 * sizeof(Sixteen)) {
            copy(at);
            copy(at + sizeof(Sixteen));
        }
        if (at + sizeof(Sixteen) <= size) copy(at);
        copy(size - sizeof(Sixteen));
        const Sixteen odd = reinterpret_cast<Sixteen>(least < first) | reinterpret_cast<Sixteen>(most > last);
        std::uint64_t any[2];
        std::memcpy(any, &odd, sizeof any);
        return (any[0] | any[1]) == 0;
    }
    template <class Block>
    static void in_blocks(char* to, const char* from, std::size_t size) {
        for (std::size_t at = 0; at + sizeof(Block) <= size; at += sizeof(Block))
            block<Block>(to + at, from + at);
        block<Block>(to + size - sizeof(Block), from + size - sizeof(Block));
    }
    template <class Block>
    static void block(char* to, const char* from) {
        Block bytes;
        std::memcpy(&bytes, from, sizeof bytes);
        const Block none{};
        const Block space = none + static_cast<unsigned char>(' '),
                    slash = none + static_cast<unsigned char>('/');
        const Block is_bar = reinterpret_cast<Block>(bytes == none + static_cast<unsigned char>('|'));
        const Block is_control = reinterpret_cast<Block>(bytes < space) |
                                 reinterpret_cast<Block>(bytes == none + static_cast<unsigned char>(0x7F));
        bytes = (bytes & ~(is_bar | is_control)) | (slash & is_bar) | (space & is_control);
        std::memcpy(to, &bytes, sizeof bytes);
    }

    // The longest number, and what stands before it.
    static constexpr std::size_t kDigits = 20, kTail = kDigits + 1;
    char bytes_[kMost + 1];
    // Names leave the tail free. Behind them come | and -, and as many bytes as the longest number has.
    static_assert(kMost - kTail + 2 + kDigits <= sizeof bytes_ && 1 + 10 <= sizeof AtraceProcess::text);
    std::size_t size_ = 0;
};

SP_DETAIL_END
