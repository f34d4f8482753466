// The texts of printf: their conversions, and how those are rewritten that a record's text does not have
// (spec/templates.md). `%m` becomes `%s` with the text of errno. Numbered arguments (`%1$d`) are put into the
// order of their conversions.
#pragma once

#include <cstring>
#include <silverpoint/silverpoint.hpp>

#include "c_arguments.hpp"

namespace {

// As SP_C_BOUNDED and SP_C_REWRITTEN of silverpoint/c/record.h.
constexpr std::uint8_t kBounded = 1, kRewritten = 2;

// A number that a conversion has, of no argument or of one.
struct Amount {
    static constexpr long kNone = -1;
    long value = kNone;
    bool is_argument = false;  // then `value` is its index
};

struct Conversion {
    const char* begin;  // its `%`
    const char* end;    // behind its letter
    char letter;
    Amount width, precision;
    unsigned value;            // the argument's index
    bool is_numbered = false;  // by `1$`

    bool is_precise() const { return precision.value != Amount::kNone; }
    // How many bytes of a text it reads at most.
    std::size_t most(const Argument* arguments, unsigned count) const {
        if (!is_precise()) return ~std::size_t{0};
        if (!precision.is_argument) return static_cast<std::size_t>(precision.value);
        if (static_cast<unsigned long>(precision.value) >= count) return ~std::size_t{0};
        // A negative one is none.
        const auto given = static_cast<std::int32_t>(arguments[precision.value].bits);
        return given < 0 ? ~std::size_t{0} : static_cast<std::size_t>(given);
    }
};

// visit(conversion) for each one, in their order.
template <class Visit>
void each_conversion(const char* text, Visit visit) {
    unsigned next = 0;
    const auto number = [](const char*& at) {
        long value = 0;
        for (; *at >= '0' && *at <= '9'; ++at)
            if (value < 1'000'000) value = value * 10 + (*at - '0');
        return value;
    };
    // Of `1$` the index, at which `at` is behind it; -1: there is none.
    const auto place = [&](const char*& at) {
        const char* behind = at;
        const long value = number(behind);
        if (*behind != '$' || value == 0) return -1L;
        at = behind + 1;
        return value - 1;
    };
    for (const char* at = text; *at != 0;) {
        if (*at++ != '%') continue;
        if (*at == '%') {
            ++at;
            continue;
        }
        Conversion found{};
        found.begin = at - 1;
        const long own = place(at);
        found.is_numbered = own >= 0;
        const auto amount = [&] {
            if (*at != '*') return Amount{number(at), false};
            ++at;
            const long numbered = place(at);
            found.is_numbered |= numbered >= 0;
            return Amount{numbered >= 0 ? numbered : static_cast<long>(next++), true};
        };
        while (*at != 0 && std::strchr("-+ #0'", *at) != nullptr) ++at;
        if (*at == '*' || (*at >= '0' && *at <= '9')) found.width = amount();
        if (*at == '.') {
            ++at;
            found.precision = amount();
        }
        while (*at != 0 && std::strchr("hljztL", *at) != nullptr) ++at;
        if (*at == 0) return;
        found.letter = *at++;
        found.end = at;
        if (own >= 0) {
            found.value = static_cast<unsigned>(own);
        } else if (found.letter != 'm') {
            found.value = next++;
        }
        visit(found);
    }
}

// What strerror says, in English, without a lock.
class ErrorText {
  public:
    explicit ErrorText(int error) {
        // (Without glibc __GLIBC_PREREQ is no macro, and may stand in no condition.)
#if defined(__GLIBC__)
#    if __GLIBC_PREREQ(2, 32)
#        define SP_C_HAS_STRERRORDESC
#    endif
#endif
#if defined(SP_C_HAS_STRERRORDESC)
        known_ = strerrordesc_np(error);
        if (known_ == nullptr) made_.add("Unknown error ");
#else
        known_ = std::strerror(error);
#endif
        if (known_ != nullptr) return;
        if (error < 0) made_.add("-");
        made_.number(error < 0 ? 0 - static_cast<std::uint64_t>(error) : static_cast<std::uint64_t>(error));
    }
    const char* text() const { return known_ != nullptr ? known_ : made_.c_str(); }

  private:
    const char* known_ = nullptr;
    silverpoint::detail::Text<40> made_;
};

// A record with its arguments in the order of their conversions.
class Rewritten {
  public:
    Rewritten(const char* text, const char* codes, const Argument* arguments, unsigned count,
              const ErrorText& error)
        : text_(text) {
        each_conversion(text, [&](const Conversion& of) {
            for (const Amount& amount : {of.width, of.precision})
                if (amount.is_argument && static_cast<unsigned long>(amount.value) < count)
                    add(arguments[amount.value], codes[amount.value]);
            if (of.letter == 'm')
                add(measured(error.text(), of.most(arguments, count)), 's');
            else if (of.value < count && arguments[of.value].fixed == Argument::kText)
                add(measured(arguments[of.value].block,
                             of.letter == 's' ? of.most(arguments, count) : ~std::size_t{0}),
                    codes[of.value]);
            else if (of.value < count)
                add(arguments[of.value], codes[of.value]);
        });
    }
    const Argument* arguments() const { return arguments_; }
    unsigned count() const { return count_; }
    const char* codes() const { return codes_; }

    std::size_t text_size() const {
        std::size_t size = 0;
        each_piece([&](const char*, std::size_t length) { size += length; });
        return size;
    }
    void put_text(char* out) const {
        each_piece([&](const char* piece, std::size_t length) {
            std::memcpy(out, piece, length);
            out += length;
        });
        *out = 0;
    }

  private:
    // Each of 16 arguments may be there more than once; what is beyond is shown as its conversion.
    static constexpr unsigned kMost = 64;

    static Argument measured(const char* text, std::size_t most) {
        return {text, strnlen(text, most), 0, Argument::kMeasured};
    }
    void add(const Argument& argument, char code) {
        if (count_ == kMost) return;
        arguments_[count_] = argument;
        codes_[count_++] = code;
    }
    // The text as conversions without numbers have it.
    template <class Give>
    void each_piece(const Give& give) const {
        const char* from = text_;
        each_conversion(text_, [&](const Conversion& of) {
            give(from, static_cast<std::size_t>(of.begin - from));
            for (const char* at = of.begin; at + 1 < of.end;) {
                const char* digits = at;
                while (*digits >= '0' && *digits <= '9') ++digits;
                if (digits > at && *digits == '$') {
                    at = digits + 1;
                    continue;
                }
                const std::size_t length = digits > at ? static_cast<std::size_t>(digits - at) : 1;
                give(at, length);
                at += length;
            }
            give(of.letter == 'm' ? "s" : of.end - 1, 1);
            from = of.end;
        });
        give(from, std::strlen(from));
    }

    const char* text_;
    unsigned count_ = 0;
    Argument arguments_[kMost];
    char codes_[kMost + 1] = {};
};

}  // namespace
