// Bytes as spdlog shows them: logger.info("{:X}", spdlog::to_hex(bytes)); and the seconds of a stopwatch. As
// arguments they are recorded as text and as a number.
//
//   {:X} upper case  {:s} no blanks between bytes  {:p} no offsets  {:n} one line  {:a} characters beside
//   them
#pragma once

#include <cctype>
#include <chrono>
#include <iterator>

#include "text.hpp"

namespace spdlog {

// Seconds since it was made.
// Thread-safe: any thread reads it, one at a time resets it. Cost: reads the clock.
class stopwatch {
  public:
    [[nodiscard]] std::chrono::duration<double> elapsed() const {
        return std::chrono::steady_clock::now() - begin_;
    }
    [[nodiscard]] std::chrono::milliseconds elapsed_ms() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(elapsed());
    }
    void reset() { begin_ = std::chrono::steady_clock::now(); }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

namespace details {

template <class Iterator>
class dump_info {
  public:
    dump_info(Iterator begin, Iterator end, std::size_t size_per_line)
        : begin_(begin), end_(end), per_line_(size_per_line == 0 ? 1 : size_per_line) {}

    // By the letters above.
    [[nodiscard]] std::string text(std::string_view letters) const {
        const auto has = [&](char letter) { return letters.find(letter) != std::string_view::npos; };
        const bool is_one_line = has('n');
        const bool has_text = has('a') && !is_one_line;
        const char* const digits = has('X') ? "0123456789ABCDEF" : "0123456789abcdef";
        std::string out, characters;
        std::size_t in_line = 0, offset = 0;
        const std::size_t width = has('s') ? 2 : 3;
        const auto end_line = [&] {
            if (!has_text) return;
            // The characters of several lines stand below each other.
            const std::size_t missing = offset > per_line_ ? per_line_ - in_line : 0;
            out.append(missing * width + 2, ' ').append(characters);
            characters.clear();
        };
        for (Iterator at = begin_; at != end_; ++at, ++offset, ++in_line) {
            if (in_line == per_line_ && !is_one_line) {
                end_line();
                in_line = 0;
            }
            if (in_line == 0 && !is_one_line) {
                out += '\n';
                if (!has('p'))
                    for (int shift = 12; shift >= 0; shift -= 4) out += digits[offset >> shift & 15];
                if (!has('p')) out += ": ";
            }
            const auto byte = static_cast<unsigned char>(*at);
            if (in_line > 0 && !has('s')) out += ' ';
            (out += digits[byte >> 4]) += digits[byte & 15];
            characters += std::isprint(byte) != 0 ? static_cast<char>(byte) : '.';
        }
        if (offset > 0) end_line();
        return out;
    }

  private:
    Iterator begin_, end_;
    std::size_t per_line_;
};
template <class Iterator>
std::ostream& operator<<(std::ostream& out, const dump_info<Iterator>& of) {
    return out << of.text("");
}

}  // namespace details

// Thread-safe: any thread. Cost: two iterators; the text is made by the call that logs it.
template <class Container>
    requires(sizeof(*std::begin(std::declval<const Container&>())) == 1)
details::dump_info<decltype(std::begin(std::declval<const Container&>()))> to_hex(
    const Container& bytes, std::size_t size_per_line = 32) {
    return {std::begin(bytes), std::end(bytes), size_per_line};
}
template <class Iterator>
    requires(sizeof(*std::declval<Iterator>()) == 1)
details::dump_info<Iterator> to_hex(Iterator begin, Iterator end, std::size_t size_per_line = 32) {
    return {begin, end, size_per_line};
}

}  // namespace spdlog

SP_DETAIL_BEGIN

template <>
struct Codec<spdlog::stopwatch> {
    using Like = double;
    static constexpr std::size_t fixed = Codec<double>::fixed;
    static constexpr void sign(Signer& out) { Codec<double>::sign(out); }
    static constexpr std::size_t size(const spdlog::stopwatch&) { return fixed; }
    static char* put(char* out, const spdlog::stopwatch& value) {
        return Codec<double>::put(out, value.elapsed().count());
    }
};

SP_DETAIL_END

#if SP_SPDLOG_HAS_FMT
template <>
struct fmt::formatter<spdlog::stopwatch> : fmt::formatter<double> {
    template <class Context>
    auto format(const spdlog::stopwatch& value, Context& context) const {
        return fmt::formatter<double>::format(value.elapsed().count(), context);
    }
};
template <class Iterator>
struct fmt::formatter<spdlog::details::dump_info<Iterator>, char> {
    template <class Context>
    constexpr auto parse(Context& context) {
        auto at = context.begin();
        for (; at != context.end() && *at != '}'; ++at)
            if (count_ < sizeof letters_) letters_[count_++] = *at;
        return at;
    }
    template <class Context>
    auto format(const spdlog::details::dump_info<Iterator>& value, Context& context) const {
        auto out = context.out();
        for (const char c : value.text({letters_, count_})) *out++ = c;
        return out;
    }

  private:
    char letters_[8] = {};
    std::size_t count_ = 0;
};
#endif
