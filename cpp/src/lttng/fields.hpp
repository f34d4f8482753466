// The fields of an event, from a signature.
//
// - A number, time or address is a number, as it is packed. Text and bytes are sequences, as they are packed.
// - An optional is NAME_present (0 or 1), then the value, or zero.
// - A sequence or array of numbers is one, too. Floats are their bits: NAME_f32, NAME_f64.
// - A record or tuple is a field for each member: NAME_member, NAME_0.
// - An enumeration is one: number and label.
// - Everything else is text: a character, a UUID, a wide integer. Maps, variants and other sequences are
// JSON.
#pragma once

#include <silverpoint/detail/arena.hpp>

#include "../probes/signature.hpp"
#include "abi.hpp"

namespace silverpoint::lttng {

using namespace probes;

// The element of a sequence or array, if LTTng has a sequence of such; else 0. (It has integers only: floats
// are their bits.)
inline char plain_element(Signature of) {
    of.skip_metadata();
    const char code = of.peek();
    return plain_size(code) != 0 ? code : '\0';
}

// LTTng keeps pointers to all of this until the process ends.
template <class T>
T* keep(const T& value) {
    void* const memory = keep_memory(sizeof(T));
    return memory == nullptr ? nullptr : ::new (memory) T(value);
}
inline const char* keep_text(std::string_view text) {
    auto* const memory = static_cast<char*>(keep_memory(text.size() + 1));
    if (memory != nullptr && !text.empty()) std::memcpy(memory, text.data(), text.size());
    return memory == nullptr ? "" : memory;
}

using Name = Text<200>;

class FieldList {
  public:
    static constexpr unsigned kMost = 400;
    static constexpr std::size_t kBase = 180;

    // `names`: as in a description.
    FieldList(std::string_view signature, std::string_view names, const ProbeDesc* probe) : probe_(probe) {
        Signature of(signature);
        for (unsigned number = 0; !of.is_at_end(); ++number) {
            Name name;
            const std::string_view given = part(names, 0, names.find('\n'));
            if (!names.empty())
                names.remove_prefix(given.size() == names.size() ? given.size() : given.size() + 1);
            if (given.empty()) {
                name.add("arg").number(number);
            } else {
                for (const char c : given) add_byte(name, c);
            }
            add(of, name);
        }
    }
    // Not all fields have room, or there is no memory.
    bool is_broken() const { return is_broken_; }
    // Whether the arguments of a record are the fields, byte for byte, unless they were cut.
    bool is_direct() const { return is_direct_; }
    const Field* const* fields() const { return fields_; }
    unsigned count() const { return count_; }

  private:
    // Identifiers have letters, digits and underscores.
    static void add_byte(Name& name, char c) {
        const bool is_fit = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        name.add(is_fit ? &c : "_", 1);
    }
    // As it stands in a signature.
    static void add_name(Name& name, std::string_view text) {
        unescape(text, [&name](char c) { add_byte(name, c); });
    }
    bool is_taken(std::string_view name) const {
        for (unsigned i = 0; i < count_; ++i)
            if (name == fields_[i]->name) return true;
        return false;
    }
    void put(const Name& name, const TypeCommon* type, bool no_filter = false) {
        if (count_ == kMost) {
            is_broken_ = true;
            return;
        }
        Name unique = name;
        for (unsigned number = 2; is_taken({unique.c_str(), unique.size()}); ++number) {
            unique = name;
            // Room for what tells it from the others.
            if (unique.size() > kBase) unique.cut(kBase);
            unique.add("_").number(number);
        }
        const auto* const field = keep(
            Field{.name = keep_text({unique.c_str(), unique.size()}), .type = type, .no_filter = no_filter});
        if (field == nullptr || type == nullptr) {
            is_broken_ = true;
        } else {
            fields_[count_++] = field;
        }
    }
    static const TypeCommon* integer(unsigned bits, bool has_sign, unsigned base = 10) {
        const auto* const type = keep(TypeInteger{.bits = bits, .is_signed = has_sign, .base = base});
        return type == nullptr ? nullptr : &type->parent;
    }
    static const TypeCommon* plain(char code, bool is_hex) {
        if (code != 'f' && code != 'd')
            return integer(8 * plain_size(code), is_signed(code), is_hex || code == 'p' ? 16 : 10);
        const auto* const type = keep(
            TypeFloat{.exponent_bits = code == 'f' ? 8u : 11u, .mantissa_bits = code == 'f' ? 24u : 53u});
        return type == nullptr ? nullptr : &type->parent;
    }
    static const TypeCommon* element(char code, bool is_hex) {
        const bool is_float = code == 'f' || code == 'd';
        return integer(8 * plain_size(code), is_signed(code), is_hex || is_float || code == 'p' ? 16 : 10);
    }
    // The length is a field of its own, which filters do not know.
    void sequence(const Name& name, const TypeCommon* of, Encoding encoding) {
        Name length;
        length.add("_").add(name.c_str(), name.size()).add("_length");
        put(length, integer(32, false), true);
        if (is_broken_) return;
        const auto* const type =
            keep(TypeSequence{.length_name = fields_[count_ - 1]->name, .element = of, .encoding = encoding});
        put(name, type == nullptr ? nullptr : &type->parent);
    }
    void text(const Name& name) { sequence(name, integer(8, false), Encoding::kUtf8); }
    void list(const Name& given, Signature& of, std::uint32_t array, bool is_array) {
        Name name = given;
        const char code = plain_element(of);
        if (code == '\0') {
            is_direct_ = false;
            of.skip();
            return text(name);
        }
        const bool is_hex = of.skip_metadata();
        of.take();
        if (code == 'f') name.add("_f32");
        if (code == 'd') name.add("_f64");
        if (!is_array) return sequence(name, element(code, is_hex), Encoding::kNone);
        const auto* const type = keep(TypeArray{.element = element(code, is_hex), .length = array});
        put(name, type == nullptr ? nullptr : &type->parent);
    }
    void enumeration(const Name& name, Signature& of) {
        const std::string_view enum_name = of.until('|');
        const char code = of.take();
        of.take();
        Signature labels(of.until(';'));
        const TypeCommon* const container = integer(8 * unit_size(code), is_signed(code));
        const EnumEntry* entries[kMost];
        unsigned count = 0;
        while (!labels.is_at_end() && count < kMost) {
            const std::string_view value = labels.until('=');
            char label[200];
            std::size_t len = 0;
            unescape(labels.until(','), [&](char c) {
                if (len < sizeof label) label[len++] = c == '"' || c == '\\' || (c >= 0 && c < ' ') ? '_' : c;
            });
            EnumEntry entry;
            unsigned long long number = 0;
            for (const char c : value)
                if (c != '-') number = number * 10 + static_cast<unsigned>(c - '0');
            entry.start.value = !value.empty() && value[0] == '-' ? 0 - number : number;
            entry.start.is_signed = is_signed(code);
            entry.end = entry.start;
            entry.label = keep_text({label, len});
            if ((entries[count] = keep(entry)) != nullptr) ++count;
        }
        if (count == 0) return put(name, container);
        auto* const kept = static_cast<const EnumEntry**>(keep_memory(count * sizeof(EnumEntry*)));
        Name type_name;
        add_name(type_name, enum_name.empty() ? std::string_view("enumeration") : enum_name);
        EnumDesc desc{
            .name = keep_text({type_name.c_str(), type_name.size()}), .entries = kept, .count = count};
        desc.probe = probe_;
        auto* const kept_desc = kept == nullptr ? nullptr : keep(desc);
        if (kept_desc == nullptr) return put(name, container);
        std::memcpy(kept, entries, count * sizeof(EnumEntry*));
        const auto* const type = keep(TypeEnum{.desc = kept_desc, .container = container});
        put(name, type == nullptr ? nullptr : &type->parent);
    }
    // Bytes of what an enumeration is over.
    static unsigned unit_size(char code) {
        return code == 'c'             ? 1
               : code == 'w'           ? 2
               : code == 'W'           ? 4
               : plain_size(code) == 0 ? 8
                                       : plain_size(code);
    }
    void add(Signature& of, const Name& name) {
        const bool is_hex = of.skip_metadata();
        if (is_broken_) return of.skip();
        const char code = of.peek();
        if (plain_size(code) != 0) {
            of.take();
            return put(name, plain(code, is_hex));
        }
        switch (code) {
            case 'n':
                of.take();
                return;
            case 's':
                of.take();
                return text(name);
            case 'y':
                of.take();
                return sequence(name, integer(8, false, 16), Encoding::kNone);
            case '[':
            case '$':
                of.take();
                return list(name, of, 0, false);
            case '#': {
                of.take();
                const std::uint32_t count = of.number(':');
                return list(name, of, count, true);
            }
            case '?': {
                of.take();
                is_direct_ = false;
                Name present = name;
                put(present.add("_present"), integer(8, false));
                return add(of, name);
            }
            case '(': {
                of.take();
                for (unsigned number = 0; !of.is_at_end() && of.peek() != ')'; ++number) {
                    Name member = name;
                    add(of, member.add("_").number(number));
                }
                of.take();
                return;
            }
            case '<': {
                of.take();
                of.until('|');
                while (!of.is_at_end() && of.peek() != '>') {
                    Name member = name;
                    add_name(member.add("_"), of.until(':'));
                    add(of, member);
                    of.take();
                }
                of.take();
                return;
            }
            case 'e':
                of.take();
                return enumeration(name, of);
            default:
                is_direct_ = false;
                of.skip();
                return text(name);
        }
    }

    const ProbeDesc* probe_;
    const Field* fields_[kMost];
    unsigned count_ = 0;
    bool is_broken_ = false, is_direct_ = true;
};

}  // namespace silverpoint::lttng
