// The payload of an event from the arguments of a record, where the two differ (fields.hpp).
#pragma once

#include "../probes/json.hpp"
#include "fields.hpp"

namespace silverpoint::lttng {

using namespace probes;

// `is_there`: false within an optional without value, of which every field is zero or empty. `in` is not used
// then.
inline void put_payload(Output& out, Signature& of, Input& in, bool is_there) {
    of.skip_metadata();
    const char code = of.peek();
    const auto plain = [&](std::size_t size) {
        if (is_there) return out.add(in.take(size), size);
        for (std::size_t i = 0; i < size; ++i) out.put('\0');
    };
    const auto text = [&](const auto& put) {
        const std::size_t from = out.begin_text();
        if (is_there) put();
        out.end_text(from);
    };
    if (plain_size(code) != 0) {
        of.take();
        return plain(plain_size(code));
    }
    switch (code) {
        case 'n':
            of.take();
            return;
        case 's':
        case 'y':
            of.take();
            return text([&] {
                const std::uint32_t count = in.length(1);
                out.add(in.take(count), count);
            });
        case 'S':
        case 'Z':
        case 'c':
        case 'w':
        case 'W':
        case 'o':
        case 'O':
            of.take();
            return text([&] { put_text(out, code, in); });
        case 'u':
            of.take();
            return text([&] { put_uuid(out, in); });
        case '[':
        case '$':
        case '#': {
            Signature element = of;
            const bool is_array = element.take() == '#';
            const std::uint32_t array = is_array ? element.number(':') : 0;
            const unsigned size = plain_size(plain_element(element));
            if (size == 0) break;
            of = element;
            of.skip();
            if (is_array) return plain(std::size_t{array} * size);
            const std::uint32_t count = is_there ? in.length(size) : 0;
            out.add(&count, sizeof count);
            return count == 0 ? void() : plain(std::size_t{count} * size);
        }
        case '?': {
            of.take();
            const bool has_value = is_there && in.get<std::uint8_t>() != 0;
            out.put(has_value ? '\1' : '\0');
            return put_payload(out, of, in, has_value);
        }
        case '(':
            of.take();
            while (!of.is_at_end() && of.peek() != ')') put_payload(out, of, in, is_there);
            of.take();
            return;
        case '<':
            of.take();
            of.until('|');
            while (!of.is_at_end() && of.peek() != '>') {
                of.until(':');
                put_payload(out, of, in, is_there);
                of.take();
            }
            of.take();
            return;
        case 'e': {
            of.take();
            of.until('|');
            const char unit = of.take();
            of.until(';');
            return plain(unit == 'c'             ? 1
                         : unit == 'w'           ? 2
                         : unit == 'W'           ? 4
                         : plain_size(unit) == 0 ? 8
                                                 : plain_size(unit));
        }
        default:
            break;
    }
    text([&] {
        Signature again = of;
        put_json(out, again, in);
    });
    of.skip();
}

}  // namespace silverpoint::lttng
