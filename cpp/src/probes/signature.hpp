// Reads a signature (spec/wire.md, section 10): what the site of a record has is well-formed.
#pragma once

#include <silverpoint/detail/directives.hpp>
#include <string_view>

namespace silverpoint::probes {

using namespace detail;

class Signature {
  public:
    explicit Signature(std::string_view text) : text_(text) {}

    bool is_at_end() const { return at_ >= text_.size(); }
    char peek() const { return is_at_end() ? '\0' : text_[at_]; }
    char take() { return is_at_end() ? '\0' : text_[at_++]; }
    // What stands before `stop`, which is passed over.
    std::string_view until(char stop) {
        const std::size_t from = at_;
        while (!is_at_end() && text_[at_] != stop) ++at_;
        const std::string_view found = part(text_, from, at_ - from);
        if (!is_at_end()) ++at_;
        return found;
    }
    std::uint32_t number(char stop) {
        std::uint32_t value = 0;
        for (const char c : until(stop))
            if (c >= '0' && c <= '9') value = value * 10 + static_cast<std::uint32_t>(c - '0');
        return value;
    }
    // Passes over metadata; true if it asks for hexadecimal numbers.
    bool skip_metadata() {
        bool is_hex = false;
        while (peek() == '@') {
            take();
            is_hex = until('=') == "hex" || is_hex;
            until(';');
        }
        return is_hex;
    }
    // Passes over a type.
    void skip() {
        skip_metadata();
        switch (take()) {
            case '?':
            case '[':
            case '$':
                return skip();
            case '#':
                until(':');
                return skip();
            case '{':
                skip();
                return skip();
            case '(':
                return skip_until(')');
            case '/':
                return skip_until('|');
            case '<':
                until('|');
                while (!is_at_end() && peek() != '>') {
                    until(':');
                    skip();
                    take();
                }
                take();
                return;
            case 'e':
                until(';');
                return;
            default:
                return;
        }
    }

  private:
    void skip_until(char stop) {
        while (!is_at_end() && peek() != stop) skip();
        take();
    }
    std::string_view text_;
    std::size_t at_ = 0;
};

// Bytes of a value that tracers have as it is packed: numbers, times, addresses; 0: it is none of these.
constexpr unsigned plain_size(char code) {
    switch (code) {
        case 'b':
        case 'a':
        case 'A':
            return 1;
        case 'h':
        case 'H':
            return 2;
        case 'i':
        case 'I':
        case 'f':
            return 4;
        case 'l':
        case 'L':
        case 'd':
        case 'p':
        case 't':
        case 'T':
            return 8;
        default:
            return 0;
    }
}
constexpr bool is_signed(char code) {
    return code == 'a' || code == 'h' || code == 'i' || code == 'l' || code == 't' || code == 'T';
}

// A name, label or key as it was before it was escaped.
template <class Put>
void unescape(std::string_view text, const Put& put) {
    const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size()) {
            put(static_cast<char>(digit(text[i + 1]) << 4 | digit(text[i + 2])));
            i += 2;
        } else {
            put(text[i]);
        }
    }
}

}  // namespace silverpoint::probes
