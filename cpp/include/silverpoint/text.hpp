// Records values of types that can become text, as text: SP_TEXT(matrix).
//
//     SP_INFO("{}", SP_TEXT(matrix));         uses the first of these that exists:
//                                             operator<< for std::ostream,
//                                             std::formatter (where the library has <format>),
//                                             fmt::formatter (if <fmt/format.h> comes before this header),
//                                             to_string(value) or value.to_string()
//
// The slow way: the text is made at each record (nothing while the site is off), in microseconds rather than
// nanoseconds, and may allocate. 1,000 bytes are kept, on the stack. The rest is cut and counted; a line end
// at the very end is left out. Exceptions on the way are caught: the text then ends with `<exception>`. For
// types that are recorded often, SP_STRUCT_OF costs a hundredth of it.
#pragma once

#include <iterator>
#include <string>
#if __has_include(<format>)
#    include <format>
#endif

#include "ostream.hpp"

SP_DETAIL_BEGIN

template <class T>
concept Streamed = requires(std::ostream& out, const T& value) { out << value; };

template <class T>
concept StringFunction = requires(const T& value) {
    { to_string(value) } -> std::convertible_to<std::string_view>;
};
template <class T>
concept StringMember = requires(const T& value) {
    { value.to_string() } -> std::convertible_to<std::string_view>;
};

// The text of a value, made when this is.
class WrittenText : public TextBuffer {
  public:
    template <class T>
    explicit WrittenText(const T& value) {
#ifdef __cpp_exceptions
        try {
            write(value);
        }
        SP_DETAIL_CATCH_END_OF_THREAD
        catch (...) {
            sputn("<exception>", 11);
        }
#else
        write(value);
#endif
    }

  private:
    template <class T>
    void write(const T& value) {
        if constexpr (Streamed<T>) {
            std::ostream out(this);
            out << value;
        } else if constexpr (StdFormatted<T>::value) {
            StdFormatted<T>::write(std::ostreambuf_iterator<char>(this), value);
        } else if constexpr (FmtFormatted<T>::value) {
            FmtFormatted<T>::write(std::ostreambuf_iterator<char>(this), value);
        } else if constexpr (StringFunction<T>) {
            put(to_string(value));
        } else {
            static_assert(StringMember<T>,
                          "silverpoint: SP_TEXT takes what has operator<<, a formatter, or to_string");
            put(value.to_string());
        }
    }
    void put(std::string_view text) { sputn(text.data(), static_cast<std::streamsize>(text.size())); }

    template <class T>
    struct StdFormatted : std::false_type {};
#ifdef __cpp_lib_format
    template <class T>
        requires std::is_default_constructible_v<std::formatter<T, char>>
    struct StdFormatted<T> : std::true_type {
        static void write(auto out, const T& value) { std::format_to(out, "{}", value); }
    };
#endif
    template <class T>
    struct FmtFormatted : std::false_type {};
#ifdef FMT_VERSION
    template <class T>
        requires fmt::is_formattable<T>::value
    struct FmtFormatted<T> : std::true_type {
        static void write(auto out, const T& value) { fmt::format_to(out, "{}", value); }
    };
#endif
};

template <>
struct Codec<WrittenText> {
    using Like = std::string_view;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('s'); }
    using Taken = CutText;
    static CutText take(const WrittenText& value) { return value.text(); }
    template <class Writer>
    static bool put_cbor(Writer& out, const WrittenText& value) {
        const CutText text = value.text();
        return out.text(text.data, text.size) && text.missing == 0;
    }
};

template <class T>
WrittenText wrap_text(const T& value) {
    return WrittenText(value);
}

SP_DETAIL_END

#define SP_TEXT(...) ::silverpoint::detail::wrap_text(__VA_ARGS__)
