// Fields of open scopes (SP_CONTEXT, context!): pairs of CBOR items, the outermost scope's first.
#pragma once

#include "json.hpp"

namespace silverpoint::probes {

// An item of CBOR that is a text.
inline std::string_view text_item(Input& in) {
    const ItemHead head(in);
    if (head.major != 3 || head.is_too_long()) {
        in.skip_all();
        return {};
    }
    const auto* const bytes = reinterpret_cast<const char*>(in.take(static_cast<std::size_t>(head.count)));
    return bytes == nullptr ? std::string_view()
                            : std::string_view(bytes, static_cast<std::size_t>(head.count));
}

// Whether another pair of this name comes later: a field of an inner scope hides it.
inline bool is_hidden(Input later, std::string_view name) {
    while (!later.is_at_end()) {
        if (text_item(later) == name) return true;
        skip_item(later);
    }
    return false;
}

// All fields as a JSON object.
inline void put_scopes(Output& out, Input pairs) {
    out.put('{');
    bool is_first = true;
    while (!pairs.is_at_end()) {
        const std::string_view name = text_item(pairs);
        Input value = pairs;
        skip_item(pairs);
        if (is_hidden(pairs, name)) continue;
        if (!is_first) out.put(',');
        is_first = false;
        put_quoted(out, name);
        out.put(':');
        put_item(out, value);
    }
    out.put('}');
}

}  // namespace silverpoint::probes
