// Names of USDT probes, made of categories, templates and names by the compiler (spec/usdt.md, Names).
#pragma once

#include "directives.hpp"

SP_DETAIL_BEGIN

// What a probe stands for: it is the end of its name.
enum class UsdtPart { kWhole, kEntry, kExit, kBegin, kEnd, kStep };
constexpr std::string_view usdt_suffix(UsdtPart part) {
    switch (part) {
        case UsdtPart::kEntry:
            return "_entry";
        case UsdtPart::kExit:
            return "_exit";
        case UsdtPart::kBegin:
            return "_begin";
        case UsdtPart::kEnd:
            return "_end";
        case UsdtPart::kStep:
            return "_step";
        case UsdtPart::kWhole:
            break;
    }
    return {};
}

// A text as an identifier of C: each run of other characters is one underscore, and none at the ends.
template <std::size_t kMost>
class UsdtIdentifier {
  public:
    constexpr void put(char c) {
        const bool is_digit = c >= '0' && c <= '9';
        if (!is_digit && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '_') {
            is_gap_ = size_ > 0;
            return;
        }
        if (is_gap_ || (size_ == 0 && is_digit)) add('_');
        is_gap_ = false;
        add(c);
    }
    constexpr void put(std::string_view text) {
        for (const char c : text) put(c);
    }
    // A template, without its placeholders.
    constexpr void put_braces(std::string_view text) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '{' && i + 1 < text.size() && text[i + 1] != '{') {
                while (i + 1 < text.size() && text[i] != '}') ++i;
                put(' ');
            } else {
                put(text[i]);
            }
        }
    }
    constexpr void put_percent(std::string_view text) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '%') {
                put(text[i]);
                continue;
            }
            constexpr std::string_view kBefore = "#+- '0123456789.*$hljztLqw";
            for (++i; i < text.size() && kBefore.find(text[i]) != std::string_view::npos; ++i) {
            }
            put(' ');
        }
    }
    constexpr void put_number(unsigned number) {
        if (number >= 10) put_number(number / 10);
        put(static_cast<char>('0' + number % 10));
    }
    constexpr bool is_empty() const { return size_ == 0; }
    // Cut, so that the whole suffix is there.
    constexpr UsdtIdentifier with(std::string_view suffix) const {
        UsdtIdentifier named = *this;
        if (named.size_ > kMost - suffix.size()) named.size_ = kMost - suffix.size();
        named.is_gap_ = false;
        for (const char c : suffix) named.add(c);
        return named;
    }
    // As the assembler gets it: eight characters, the first lowest; the rest is 0.
    constexpr std::uint64_t word(std::size_t index) const {
        std::uint64_t word = 0;
        for (std::size_t i = 8; i-- > 0;) {
            const std::size_t at = index * 8 + i;
            word = word << 8 | (at < size_ ? static_cast<unsigned char>(text_[at]) : 0u);
        }
        return word;
    }

  private:
    constexpr void add(char c) {
        if (size_ < kMost) text_[size_++] = c;
    }
    char text_[kMost] = {};
    std::size_t size_ = 0;
    bool is_gap_ = false;
};

struct UsdtNames {
    UsdtIdentifier<32> provider;
    UsdtIdentifier<56> name;
};

enum class UsdtText { kName, kBraces, kPercent, kFunction };

consteval UsdtNames usdt_names(std::string_view category, std::string_view text, UsdtText is,
                               std::string_view file, unsigned line) {
    UsdtNames names;
    names.provider.put(category);
    if (names.provider.is_empty()) names.provider.put("silverpoint");
    if (is == UsdtText::kBraces) names.name.put_braces(text);
    if (is == UsdtText::kPercent) names.name.put_percent(text);
    if (is == UsdtText::kName) names.name.put(text);
    if (is == UsdtText::kFunction) names.name.put(function_name(text));
    if (names.name.is_empty()) {
        names.name.put(file.substr(file.rfind('/') + 1));
        names.name.put(' ');
        names.name.put_number(line);
    }
    return names;
}

// How the probe of such a record ends.
constexpr UsdtPart usdt_part(Kind kind) {
    switch (kind) {
        case Kind::kSpan:
            return UsdtPart::kEntry;
        case Kind::kAsyncBegin:
        case Kind::kFlowBegin:
            return UsdtPart::kBegin;
        case Kind::kAsyncEnd:
        case Kind::kFlowEnd:
            return UsdtPart::kEnd;
        case Kind::kFlowStep:
            return UsdtPart::kStep;
        default:
            return UsdtPart::kWhole;
    }
}

SP_DETAIL_END
