// Makes floats.tsv: what std::to_chars and printf write for floats, the words by which std::format is
// defined. g++ -std=c++20 -O1 make_floats.cpp -o make_floats && ./make_floats > floats.tsv
//
// A line: type (f or d), bits in hexadecimal, specification, expected text.
#include <charconv>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

template <class F, class Bits>
void line(char type, F value, const char* spec, const std::string& expected) {
    Bits bits;
    std::memcpy(&bits, &value, sizeof bits);
    std::printf("%c\t%" PRIx64 "\t%s\t%s\n", type, static_cast<std::uint64_t>(bits), spec, expected.c_str());
}

template <class F>
std::string shortest(F value) {
    char text[2048];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

template <class F>
std::string hex(F value, int precision) {
    char text[2048];
    const auto end = precision < 0
                         ? std::to_chars(text, text + sizeof text, value, std::chars_format::hex)
                         : std::to_chars(text, text + sizeof text, value, std::chars_format::hex, precision);
    return {text, end.ptr};
}

std::string print(const char* format, double value) {
    char text[2048];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

template <class F, class Bits>
void all(char type, F value) {
    line<F, Bits>(type, value, "", shortest(value));
    for (const char* spec : {".0f",  ".1f",  ".2f", ".3f",  ".6f", ".10f", ".17f", ".19f", ".25f",   "f",
                             "e",    ".0e",  ".3e", ".17e", "g",   ".0g",  ".1g",  ".3g",  ".10g",   ".17g",
                             "#.0f", "#.3g", "#g",  "#.0e", "E",   "G",    "+.2f", " .1e", "012.3f", "+015g"})
        // glibc drops the zeros that # keeps when rounding moves 999999.5 from fixed to scientific.
        if (value != F(999999.5) || std::strcmp(spec, "#g") != 0)
            line<F, Bits>(type, value, spec,
                          print((std::string("%") + spec).c_str(), static_cast<double>(value)));
    if (value == 0 || std::fpclassify(value) == FP_NORMAL)
        for (const int precision : {-1, 0, 1, 3, 15})
            line<F, Bits>(type, value, precision < 0 ? "a" : ("." + std::to_string(precision) + "a").c_str(),
                          // An f32 is formatted as the f64 that equals it: the digits are the same, in
                          // nibbles of an f64.
                          hex(static_cast<double>(value), precision));
}

}  // namespace

int main() {
    using D = std::numeric_limits<double>;
    using F = std::numeric_limits<float>;
    const std::vector<double> doubles = {
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.1,
        0.5,
        1.5,
        2.5,
        0.25,
        0.125,
        0.375,
        3.14159265358979,
        100000.0,
        1e5 + 1,
        123456.0,
        1e6,
        1234567.,
        1e15,
        1e16,
        1e17,
        1e21,
        1e22,
        1e23,
        9007199254740993.0,
        1e30,
        1e100,
        1.25e-5,
        0.0001,
        0.00001,
        1e-7,
        1e-100,
        999999.5,
        9999999.5,
        0.9999995,
        0.99995,
        99.995,
        1.005,
        2.675,
        1e300,
        D::max(),
        D::min(),
        4.35,
        0.05,
        1e-4,
        1.0 / 3,
        2.0 / 3,
        1e18,
        18446744073709551616.0,
        4503599627370496.5,
        0.1 + 0.2,
        1234.5678,
        12345678901234567890.0,
        123456789012345680000.0,
        5e-324,
        2.5e-320,
        9.5,
        0.045,
        1023.9999,
    };
    for (const double value : doubles) all<double, std::uint64_t>('d', value);
    for (const float value : {0.0F, 1.0F, 0.1F, 3.14F, 16777216.0F, 1e10F, 1e-10F, F::max(), F::min(),
                              1.5e-45F, 123456.789F, 0.3F, 1e5F, 33554432.0F})
        all<float, std::uint32_t>('f', value);
    std::mt19937_64 random{20};
    for (int i = 0; i < 40; ++i) {
        double value;
        const std::uint64_t bits = random();
        std::memcpy(&value, &bits, sizeof value);
        if (std::isfinite(value)) all<double, std::uint64_t>('d', value);
        all<double, std::uint64_t>('d', static_cast<double>(random() % 100'000'000) / 1000);
        all<float, std::uint32_t>('f', static_cast<float>(random() % 10'000'000) / 256.0F);
    }
}
