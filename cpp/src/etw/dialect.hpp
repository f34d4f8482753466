// TraceLogging's way to describe fields: name, in-type, and out-type where it is not the in-type's own.
//
// A signed number is INT8 to INT64. An unsigned one is UINT8 to UINT64, HEXINT32 or HEXINT64, else an
// out-type says that it is hexadecimal or a bool. Texts are counted UTF-8, JSON has its own out-type.
#pragma once

#include "../probes/description.hpp"
#include "../probes/forms.hpp"

namespace silverpoint::etw {

using namespace probes;

enum InType : std::uint8_t {
    kInt8 = 3,  // then unsigned 8, signed 16 and so on
    kFloat32 = 11,
    kFloat64 = 12,
    kBinary = 14,
    kGuid = 15,
    kHexInt32 = 20,
    kHexInt64 = 21,
    kCountedText = 23,
    kStructure = 24,
    kHasCount = 0x40,
    kHasOutType = 0x80,
};
enum OutType : std::uint8_t {
    kOwn = 0,
    kOutBoolean = 3,
    kOutHex = 4,
    kOutJson = 12,
    kOutUtf8 = 35,
};

struct Dialect {
    // Few tools decode an event that has more.
    static constexpr unsigned kMostFields = 128;
    // The size, which stands here later, and the tag.
    static constexpr std::string_view kHead{"\0\0\0", 3};
    static constexpr std::size_t kTagAt = 2;
    static constexpr bool kHasNullable = false, kHasConstantArrays = false, kHasMixedUuids = true;

    static bool is_asked() { return probes::is_asked(kEtwProbe); }
    static void put_type(Output& out, unsigned encoding, unsigned format) {
        const unsigned kind = encoding & 0x1F;
        unsigned in = 0, detail = kOwn;
        if (kind == kStruct) {
            in = kStructure;
            detail = format;  // how many fields
        } else if (kind == kCounted) {
            in = format == kHexBytes ? kBinary : kCountedText;
            detail = format == kHexBytes ? kOwn : format == kJsonText ? kOutJson : kOutUtf8;
        } else if (format == kFloat) {
            in = kind == kValue32 ? kFloat32 : kFloat64;
        } else if (format == kUuid) {
            in = kGuid;
        } else if (format == kHex && kind >= kValue32) {
            in = kind == kValue32 ? kHexInt32 : kHexInt64;
        } else {
            in = kInt8 + 2 * (kind - kValue8) + (format == kSigned ? 0 : 1);
            detail = format == kBoolean ? kOutBoolean : format == kHex ? kOutHex : kOwn;
        }
        if ((encoding & kArray) != 0) in |= kHasCount;
        out.put(static_cast<char>(detail == kOwn ? in : in | kHasOutType));
        if (detail != kOwn) out.put(static_cast<char>(detail));
    }
};

}  // namespace silverpoint::etw
