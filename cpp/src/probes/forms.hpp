// How the types of a signature become fields of an event that describes itself: EventHeader of user_events,
// TraceLogging of ETW. What differs between these two is a `Dialect`, a class of either's folder.
//
// - A number, time, address or UUID is a value, as it is packed.
// - Text, bytes and what becomes text (a character, wide text, an integer of 128 bits) are counted strings.
// - An enumeration is its number, then NAME_label if it has labels.
// - An optional value is a value that may be null, if the dialect has such. Another optional is NAME_present,
//   then the value.
// - A sequence, set or array of values or of texts is one, too.
// - A record or tuple is a structure.
// - Everything else is JSON: maps, variants, items, other sequences, records that are too deep or too wide.
#pragma once

#include "json.hpp"

namespace silverpoint::probes {

// EventHeader's numbers, those that are used. Other dialects translate them.
enum Encoding : std::uint8_t {
    kStruct = 1,
    kValue8 = 2,
    kValue16 = 3,
    kValue32 = 4,
    kValue64 = 5,
    kValue128 = 6,
    kCounted = 10,  // u16 length, bytes; of another format than text: length 0 is null
    kConstantArray = 0x20,
    kArray = 0x40,
    kHasFormat = 0x80,
};
enum Format : std::uint8_t {
    kUnsigned = 1,
    kSigned = 2,
    kHex = 3,
    kBoolean = 7,
    kFloat = 8,
    kHexBytes = 9,
    kUtf8 = 11,
    kJsonText = 14,
    kUuid = 15,
};

// Structures within each other, and fields of one.
inline constexpr unsigned kDeepest = 7, kWidest = 127;
// An array of more bytes has a count of its own, so that it can be cut.
inline constexpr std::size_t kConstantMost = 4096;
inline constexpr std::size_t kCountMost = 65535;

constexpr unsigned value_size(char code) { return code == 'u' ? 16 : plain_size(code); }
constexpr Encoding value_encoding(unsigned size) {
    return size == 1   ? kValue8
           : size == 2 ? kValue16
           : size == 4 ? kValue32
           : size == 8 ? kValue64
                       : kValue128;
}
constexpr Format value_format(char code, bool is_hex) {
    switch (code) {
        case 'b':
            return kBoolean;
        case 'f':
        case 'd':
            return kFloat;
        case 'u':
            return kUuid;
        case 'p':
            return kHex;
        default:
            if (is_hex && code != 't' && code != 'T') return kHex;
            return is_signed(code) ? kSigned : kUnsigned;
    }
}
// Bytes of what an enumeration is over.
constexpr unsigned unit_size(char code) {
    return code == 'c' ? 1 : code == 'w' ? 2 : code == 'W' ? 4 : plain_size(code);
}

enum class Form {
    kNothing,  // no field, and no bytes
    kValue,
    kText,
    kBytes,
    kMadeText,
    kLabelled,
    kNullable,
    kOptional,
    kValues,
    kTexts,
    kRecord,
    kJson,
};

// The head of a sequence, set or array.
struct ListHead {
    bool is_array;
    std::uint32_t count;  // of an array

    explicit ListHead(Signature& of) : is_array(of.take() == '#'), count(is_array ? of.number(':') : 0) {}
    template <class Dialect>
    bool is_constant(unsigned size) const {
        return Dialect::kHasConstantArrays && is_array && count > 0 && count <= kConstantMost &&
               std::size_t{count} * size <= kConstantMost;
    }
};

template <class Dialect>
unsigned fields_of(Signature& of, unsigned depth);

// Calls `each` with the name of each member of a record or tuple, until it returns false; `each` passes over
// the type. Passes over the end.
template <class Each>
void each_member(Signature& of, const Each& each) {
    const bool is_tuple = of.take() == '(';
    if (!is_tuple) of.until('|');
    for (unsigned number = 0; !of.is_at_end() && of.peek() != (is_tuple ? ')' : '>'); ++number) {
        each(is_tuple ? std::string_view() : of.until(':'), number);
        if (!is_tuple) of.take();
    }
    of.take();
}

// `depth`: how many structures may lie within each other here.
template <class Dialect>
Form form_of(Signature of, unsigned depth) {
    of.skip_metadata();
    const char code = of.peek();
    if (value_size(code) != 0) return Form::kValue;
    switch (code) {
        case 'n':
            return Form::kNothing;
        case 's':
            return Form::kText;
        case 'y':
            return Form::kBytes;
        case 'S':
        case 'Z':
        case 'c':
        case 'w':
        case 'W':
        case 'o':
        case 'O':
            return Form::kMadeText;
        case 'e':
            return Form::kLabelled;
        case '?':
            of.take();
            return Dialect::kHasNullable && form_of<Dialect>(of, depth) == Form::kValue ? Form::kNullable
                                                                                        : Form::kOptional;
        case '[':
        case '$':
        case '#': {
            const ListHead head(of);
            of.skip_metadata();
            return value_size(of.peek()) != 0 ? Form::kValues : of.peek() == 's' ? Form::kTexts : Form::kJson;
        }
        case '(':
        case '<': {
            if (depth == 0) return Form::kJson;
            unsigned fields = 0;
            each_member(of, [&](std::string_view, unsigned) { fields += fields_of<Dialect>(of, depth - 1); });
            return fields == 0 ? Form::kNothing : fields > kWidest ? Form::kJson : Form::kRecord;
        }
        default:
            return Form::kJson;
    }
}

// The parts of an enumeration.
struct Enumeration {
    char unit;
    std::string_view labels;

    explicit Enumeration(Signature& of) {
        of.take();
        of.until('|');
        unit = of.take();
        of.take();
        labels = of.until(';');
    }
};

// How many fields a type is, which is passed over.
template <class Dialect>
unsigned fields_of(Signature& of, unsigned depth) {
    of.skip_metadata();
    switch (form_of<Dialect>(of, depth)) {
        case Form::kNothing:
            of.skip();
            return 0;
        case Form::kLabelled:
            return Enumeration(of).labels.empty() ? 1 : 2;
        case Form::kOptional:
            of.take();
            return 1 + fields_of<Dialect>(of, depth);
        default:
            of.skip();
            return 1;
    }
}

}  // namespace silverpoint::probes
