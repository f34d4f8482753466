// What an event that describes itself is made of: its name, level, keyword, opcode and activity.
#pragma once

#include <silverpoint/detail/utf8.hpp>

#include "description.hpp"

namespace silverpoint::probes {

enum Opcode : std::uint8_t { kInformation = 0, kActivityStart = 1, kActivityStop = 2 };

// What an event is of its activity. Others are events of the innermost span.
enum class Activities { kNone, kBegin, kEnd, kAsync };

struct Plan {
    std::string_view name, signature, names;
    std::uint8_t level = 0;
    Opcode opcode = kInformation;
    Activities activities = Activities::kNone;
};

// Of EventHeader and ETW: 1 critical to 5 verbose.
inline std::uint8_t level_of_site(std::uint8_t level) {
    constexpr std::uint8_t levels[] = {5, 5, 4, 3, 2, 1};  // trace, debug, info, warn, error, fatal
    return level < sizeof levels ? levels[level] : 5;
}
// Bits of the keyword.
inline constexpr unsigned kRecords = 1, kSpans = 2;
inline unsigned keyword_of(Kind kind) {
    switch (kind) {
        case Kind::kSpan:
        case Kind::kAsyncBegin:
        case Kind::kAsyncEnd:
        case Kind::kAsyncInstant:
        case Kind::kFlowBegin:
        case Kind::kFlowStep:
        case Kind::kFlowEnd:
            return kSpans;
        default:
            return kRecords;
    }
}

inline constexpr std::size_t kNameMost = 480;
using EventName = Text<kNameMost + 20>;

// The texts of a site are not escaped.
inline void add_plain(EventName& name, std::string_view text) {
    const bool is_cut = text.size() > kNameMost - name.size();
    if (is_cut) text = part(text, 0, kNameMost - name.size());
    for (const char c : text) {
        const char safe = c == ';' ? ',' : (c >= 0 && c < ' ') || c == 0x7F ? ' ' : c;
        name.add(&safe, 1);
    }
    if (is_cut) name.cut(utf8_prefix({name.c_str(), name.size()}));
}
// Appends the template or name, else the place in the source, then the ending.
inline void add_name(EventName& name, const Description& site, const char* ending) {
    add_plain(name, site.text);
    if (site.text.empty()) {
        const std::size_t most = name.size() + 200;
        std::string_view file = site.file;
        if (const auto slash = file.rfind('/'); slash != std::string_view::npos) file = part(file, slash + 1);
        add_plain(name.add("#"), file);
        name.cut(utf8_prefix({name.c_str(), name.size() < most ? name.size() : most}));
        name.add(":").number(site.line);
    }
    name.add(ending);
}

// The plan of a site's event, but for its name.
inline Plan plan_of(const Description& site) {
    Plan plan;
    plan.level = level_of_site(site.level);
    plan.signature = site.signature;
    plan.names = site.names;
    if (site.kind == Kind::kSpan || site.kind == Kind::kAsyncBegin) plan.opcode = kActivityStart;
    if (site.kind == Kind::kAsyncEnd) plan.opcode = kActivityStop;
    if (site.kind == Kind::kSpan) plan.activities = Activities::kBegin;
    if (site.kind == Kind::kAsyncBegin || site.kind == Kind::kAsyncEnd || site.kind == Kind::kAsyncInstant)
        plan.activities = Activities::kAsync;
    return plan;
}
// That of a span's end, from the begin's.
inline Plan plan_of_end(Plan plan) {
    plan.signature = "L";
    plan.names = "duration_ns\n";
    plan.opcode = kActivityStop;
    plan.activities = Activities::kEnd;
    return plan;
}

}  // namespace silverpoint::probes
