// EventHeader's way to describe fields.
#pragma once

#include "../probes/description.hpp"
#include "../probes/forms.hpp"

namespace silverpoint::user_events {

struct Dialect {
    static constexpr unsigned kMostFields = 400;
    static constexpr std::string_view kHead = {};
    static constexpr bool kHasNullable = true, kHasConstantArrays = true, kHasMixedUuids = false;

    static bool is_asked() { return probes::is_asked(probes::kUserEventsProbe); }
    static void put_type(probes::Output& out, unsigned encoding, unsigned format) {
        out.put(static_cast<char>(encoding | probes::kHasFormat));
        out.put(static_cast<char>(format));
    }
};

}  // namespace silverpoint::user_events
