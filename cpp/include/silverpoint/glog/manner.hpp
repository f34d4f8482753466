// How an ostream would write its next value, and how the standard's manipulators change that. It works
// without an ostream, because setting one up takes as long as the rest of a message.
#pragma once

#include <ios>
#include <string_view>
#include <type_traits>

#include "render.hpp"

namespace google::glog_internal_namespace_ {

// Whether the standard library has this name for the type: libstdc++'s std::setw returns std::_Setw, libc++'s
// returns std::__1::__iom_t6.
template <class T>
constexpr bool is_named(std::string_view name) {
    return std::string_view(__PRETTY_FUNCTION__).find(name) != std::string_view::npos;
}
template <class T>
constexpr bool is_manipulator() {
    return std::is_class_v<T> &&
           (is_named<T>("std::_Set") || is_named<T>("std::_Reset") || is_named<T>("::__iom_t"));
}

struct Manner {
    using Flags = std::ios_base::fmtflags;
    Flags flags = std::ios_base::skipws | std::ios_base::dec;
    std::streamsize width = 0, precision = 6;
    char fill = ' ';

    bool operator==(const Manner&) const = default;

    Look look() const {
        Look look;
        const auto base = flags & std::ios_base::basefield;
        const auto real = flags & std::ios_base::floatfield;
        const auto adjust = flags & std::ios_base::adjustfield;
        look.base = base == std::ios_base::hex ? 'x' : base == std::ios_base::oct ? 'o' : 0;
        look.real = real == std::ios_base::fixed        ? 'f'
                    : real == std::ios_base::scientific ? 'e'
                    : real != Flags{}                   ? 'a'
                                                        : 0;
        look.plus = (flags & std::ios_base::showpos) != 0;
        look.has_base = (flags & std::ios_base::showbase) != 0;
        look.has_point = (flags & std::ios_base::showpoint) != 0;
        look.upper = (flags & std::ios_base::uppercase) != 0;
        look.words = (flags & std::ios_base::boolalpha) != 0;
        look.align = adjust == std::ios_base::left ? '<' : adjust == std::ios_base::internal ? '=' : '>';
        look.fill = fill;
        look.width = static_cast<std::uint16_t>(width < 0 ? 0 : width > 30000 ? 30000 : width);
        look.precision = static_cast<std::int16_t>(precision < 0 ? 6 : precision > 1000 ? 1000 : precision);
        return look;
    }

    // Whether the manipulator's effect is known; then it is applied. (libstdc++ shows what is in one.)
    template <class Thing>
    bool set(const Thing& of) {
        if constexpr (!is_named<Thing>("std::_")) {
            return false;
        } else if constexpr (is_named<Thing>("_Setprecision") && requires { of._M_n; }) {
            return precision = of._M_n, true;
        } else if constexpr (is_named<Thing>("_Setw") && requires { of._M_n; }) {
            return width = of._M_n, true;
        } else if constexpr (is_named<Thing>("_Setfill") && requires { of._M_c + ' '; }) {
            return fill = of._M_c, true;
        } else if constexpr (is_named<Thing>("_Setbase") && requires { of._M_base; }) {
            change(of._M_base == 8    ? std::ios_base::oct
                   : of._M_base == 10 ? std::ios_base::dec
                   : of._M_base == 16 ? std::ios_base::hex
                                      : Flags{},
                   std::ios_base::basefield);
            return true;
        } else if constexpr (is_named<Thing>("_Setiosflags") && requires { of._M_mask; }) {
            return change(of._M_mask, of._M_mask), true;
        } else if constexpr (is_named<Thing>("_Resetiosflags") && requires { of._M_mask; }) {
            return change({}, of._M_mask), true;
        } else {
            return false;
        }
    }
    bool set(std::ios_base& (*of)(std::ios_base&)) {
        using ios = std::ios_base;
        struct Known {
            std::ios_base& (*name)(std::ios_base&);
            Flags set, of;
        };
        static constexpr Known all[] = {
            {std::hex, ios::hex, ios::basefield},
            {std::dec, ios::dec, ios::basefield},
            {std::oct, ios::oct, ios::basefield},
            {std::fixed, ios::fixed, ios::floatfield},
            {std::scientific, ios::scientific, ios::floatfield},
            {std::hexfloat, ios::fixed | ios::scientific, ios::floatfield},
            {std::defaultfloat, {}, ios::floatfield},
            {std::left, ios::left, ios::adjustfield},
            {std::right, ios::right, ios::adjustfield},
            {std::internal, ios::internal, ios::adjustfield},
            {std::boolalpha, ios::boolalpha, ios::boolalpha},
            {std::noboolalpha, {}, ios::boolalpha},
            {std::showbase, ios::showbase, ios::showbase},
            {std::noshowbase, {}, ios::showbase},
            {std::showpoint, ios::showpoint, ios::showpoint},
            {std::noshowpoint, {}, ios::showpoint},
            {std::showpos, ios::showpos, ios::showpos},
            {std::noshowpos, {}, ios::showpos},
            {std::uppercase, ios::uppercase, ios::uppercase},
            {std::nouppercase, {}, ios::uppercase},
        };
        for (const Known& one : all)
            if (one.name == of) return change(one.set, one.of), true;
        return false;
    }
    // Of a stream, which may be anything.
    bool set(std::ios& (*)(std::ios&)) { return false; }
    bool set(std::ostream& (*)(std::ostream&)) { return false; }

  private:
    void change(Flags to, Flags of) { flags = (flags & ~of) | (to & of); }
};

}  // namespace google::glog_internal_namespace_
