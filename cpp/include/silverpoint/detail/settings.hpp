// Settings from the environment (spec/directives.md). A value that is not understood counts as not given.
#pragma once

#include "../platform/tracers.hpp"
#include "directives.hpp"
#include "sys.hpp"

extern "C" {
// What a program that includes logger.hpp records before its logger starts; not there in others.
SP_DETAIL_WEAK SP_DETAIL_OWN const char* silverpoint_kept_for_logger();
}

SP_DETAIL_BEGIN

struct Settings {
    bool demanded = false;
    bool expected = false;
    bool off = false;
    bool privileged = false;
    bool kept = false;         // for a logger that may start
    std::uint32_t probes = 0;  // system tracers, as bits
    const char* filter = "";
    Policy policy[6] = {};
    std::uint32_t block_max_ms = 1000;
    std::uint64_t memory = 0;  // bytes; 0: not given
};

// Multiplies, then adds; false if the number becomes too large. `by` is not 0.
inline bool multiply_add(std::uint64_t& number, std::uint64_t by, std::uint64_t more) {
    if (number > (~std::uint64_t{0} - more) / by) return false;
    number = number * by + more;
    return true;
}

// A whole number and the unit behind it, without spaces around both; false if there is no such number.
SP_DETAIL_COLD bool split_number(std::string_view text, std::uint64_t& number, std::string_view& unit) {
    text = trim(text);
    number = 0;
    std::size_t at = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
        if (!multiply_add(number, 10u, static_cast<unsigned>(text[at] - '0'))) return false;
    unit = trim(part(text, at));
    return at > 0;
}

// Number with K, M or G behind it; 0 if it is invalid.
SP_DETAIL_COLD std::uint64_t parse_size(std::string_view text) {
    std::uint64_t number = 0;
    std::string_view unit;
    if (!split_number(text, number, unit)) return 0;
    std::uint64_t one = 1;
    if (unit == "K" || unit == "k") {
        one <<= 10;
    } else if (unit == "M" || unit == "m") {
        one <<= 20;
    } else if (unit == "G" || unit == "g") {
        one <<= 30;
    } else if (!unit.empty()) {
        return 0;
    }
    return multiply_add(number, one, 0) ? number : 0;
}

// Number with ms or s behind it, milliseconds without either; `otherwise` if it is invalid.
SP_DETAIL_COLD std::uint32_t parse_milliseconds(std::string_view text, std::uint32_t otherwise) {
    std::uint64_t number = 0;
    std::string_view unit;
    if (!split_number(text, number, unit)) return otherwise;
    if (unit == "s") {
        if (!multiply_add(number, 1000u, 0)) return otherwise;
    } else if (unit != "ms" && !unit.empty()) {
        return otherwise;
    }
    if (number > kBlockForEver) return otherwise;
    return number == kBlockForEver ? kBlockForEver - 1 : static_cast<std::uint32_t>(number);
}

// Reports which directives of SILVERPOINT_FILTER are ignored.
SP_DETAIL_COLD void warn_of_malformed(std::string_view filter) {
    for (;;) {
        const std::string_view bad = malformed_directive(filter);
        if (bad.empty()) return;
        Text<400> line;
        line.add("SILVERPOINT_FILTER: '").add(bad.data(), bad.size() < 100 ? bad.size() : 100);
        line.add(
            "' is ignored: expected trace, debug, info, warn, error, fatal, on or off, or one of these "
            "behind a category, a file or a function(), as in net=debug");
        warn(line.c_str());
    }
}

// POLICY[,level=POLICY]…; a part that is not understood is skipped.
SP_DETAIL_COLD void parse_policy(std::string_view text, Settings& settings) {
    for (bool is_first = true;; is_first = false) {
        const auto comma = text.find(',');
        const auto piece = trim(part(text, 0, comma));
        const auto equals = piece.find('=');
        std::string_view name = piece;
        // Levels that it is for, from and to.
        int from = 0, to = is_first ? 6 : 0;
        // `block=forever` is a policy; what stands before `=` elsewhere is a level.
        if (equals != std::string_view::npos && part(piece, 0, equals) != "block") {
            from = level_of(trim(part(piece, 0, equals)));
            to = from + 1;
            name = trim(part(piece, equals + 1));
        }
        const bool is_for_ever = name == "block=forever";
        if (from >= 0 && from < to &&
            (is_for_ever || name == "block" || name == "drop" || name == "overwrite")) {
            if (is_for_ever) settings.block_max_ms = kBlockForEver;
            for (int level = from; level < to; ++level)
                settings.policy[level] = name == "drop"        ? Policy::kDrop
                                         : name == "overwrite" ? Policy::kOverwrite
                                                               : Policy::kBlock;
        }
        if (comma == std::string_view::npos) return;
        text = part(text, comma + 1);
    }
}

// The names of system tracers, separated by commas. One that is not known is reported.
SP_DETAIL_COLD void parse_probes(std::string_view text, Settings& settings) {
    for (;;) {
        const auto comma = text.find(',');
        const auto name = trim(part(text, 0, comma));
        bool is_known = name.empty();
        for (const ProbeLibrary& library : kProbeLibraries) {
            if (name != library.asked) continue;
            settings.probes |= library.bit;
            is_known = true;
        }
        if (!is_known) {
            Text<400> line;
            line.add("SILVERPOINT_PROBES: '").add(name.data(), name.size() < 100 ? name.size() : 100);
            line.add("' is ignored: expected ");
            std::size_t left = kProbeLibraries.size();
            for (const ProbeLibrary& library : kProbeLibraries)
                line.add(library.asked).add(--left > 1 ? ", " : left == 1 ? " or " : "");
            warn(line.c_str());
        }
        if (comma == std::string_view::npos) return;
        text = part(text, comma + 1);
    }
}

SP_DETAIL_COLD Settings read_settings() {
    Settings settings;
    if (const char* filter = environment("SILVERPOINT_FILTER")) {
        settings.demanded = true;
        settings.filter = filter;
    } else if constexpr (kHasLogger) {
        if (silverpoint_kept_for_logger != nullptr) {
            settings.filter = silverpoint_kept_for_logger();
            settings.kept = *settings.filter != 0;
        }
    }
    const char* collector = environment("SILVERPOINT_COLLECTOR");
    settings.expected = collector != nullptr && std::strcmp(collector, "1") == 0;
    const char* off = environment("SILVERPOINT_OFF");
    settings.privileged = is_privileged();
    settings.off = settings.privileged || (off != nullptr && std::strcmp(off, "1") == 0);
    if (const char* memory = environment("SILVERPOINT_MEMORY")) settings.memory = parse_size(memory);
    if (const char* most = environment("SILVERPOINT_BLOCK_MAX"))
        settings.block_max_ms = parse_milliseconds(most, settings.block_max_ms);
    if (const char* policy = environment("SILVERPOINT_POLICY")) parse_policy(policy, settings);
    const char* probes = settings.off ? nullptr : environment("SILVERPOINT_PROBES");
    if (probes != nullptr) parse_probes(probes, settings);
    return settings;
}

SP_DETAIL_END
