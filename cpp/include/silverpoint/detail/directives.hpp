// Which sites are on (spec/directives.md). Works on the text itself, without allocation; malformed directives
// are skipped.
#pragma once

#include <string_view>

#include "config.hpp"

SP_DETAIL_BEGIN

// The properties of a site that directives check.
struct SiteFacts {
    Level level;
    std::string_view category;
    std::string_view file;
    std::uint32_t line;
    std::string_view function;
};

// Like substr, but it does not throw: the C library of tracepoints has no C++ library.
constexpr std::string_view part(std::string_view text, std::size_t begin,
                                std::size_t most = std::string_view::npos) {
    if (begin > text.size()) return {};
    const std::size_t rest = text.size() - begin;
    return {text.data() + begin, most < rest ? most : rest};
}
constexpr bool begins_with(std::string_view text, std::string_view with) {
    return part(text, 0, with.size()) == with;
}

// `*` any characters, `?` one; the whole name.
SP_DETAIL_COLD bool glob(std::string_view pattern, std::string_view name) {
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::size_t p = 0, n = 0, star = none, retry = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = ++p;
            retry = n;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
            ++p;
            ++n;
        } else if (star != none) {
            p = star;
            n = ++retry;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

// The qualified name in the compiler's text for a function: `ns::Pump::start` of `void ns::Pump::start(int)
// [with T = int]`.
SP_DETAIL_COLD constexpr std::string_view function_name(std::string_view text) {
    if (const auto with = text.find(" [with "); with != std::string_view::npos) text = part(text, 0, with);
    if (const auto with = text.find(" [T = "); with != std::string_view::npos) text = part(text, 0, with);
    const auto ends_in_operator = [&](std::size_t at) { return part(text, 0, at).ends_with("operator"); };
    std::size_t end = text.size();
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '<' && !ends_in_operator(i) && !part(text, 0, i).ends_with("operator<")) {
            ++depth;
        } else if (text[i] == '>' && depth > 0) {
            --depth;
        } else if (text[i] == '(' && depth == 0) {
            if (begins_with(part(text, i), "(anonymous namespace)")) {
                i += 20;
            } else if (ends_in_operator(i) && begins_with(part(text, i), "()")) {
                ++i;
            } else {
                end = i;
                break;
            }
        }
    }
    if (end == text.size()) return text;
    std::size_t begin = 0;
    depth = 0;
    for (std::size_t i = 0; i < end; ++i) {
        if (text[i] == '<' || text[i] == '(') ++depth;
        if ((text[i] == '>' || text[i] == ')') && depth > 0) --depth;
        if (text[i] == ' ' && depth == 0 && !ends_in_operator(i)) begin = i + 1;
    }
    text = part(text, begin, end - begin);
    while (!text.empty() && (text.front() == '*' || text.front() == '&')) text.remove_prefix(1);
    return text;
}

SP_DETAIL_COLD bool matches_category(std::string_view pattern, std::string_view name) {
    if (glob(pattern, name)) return true;
    for (std::size_t i = 0; i < name.size(); ++i)
        if ((name[i] == '.' || name[i] == '/' || begins_with(part(name, i), "::")) &&
            glob(pattern, part(name, 0, i)))
            return true;
    return false;
}

SP_DETAIL_COLD bool matches_file(std::string_view pattern, std::string_view name) {
    if (glob(pattern, name)) return true;
    for (std::size_t i = 0; i < name.size(); ++i)
        if (name[i] == '/' && glob(pattern, part(name, i + 1))) return true;
    return false;
}

SP_DETAIL_COLD bool is_file(std::string_view target) {
    if (const auto slash = target.rfind('/'); slash != std::string_view::npos)
        target = part(target, slash + 1);
    const auto dot = target.rfind('.');
    if (dot == std::string_view::npos) return false;
    constexpr std::string_view endings[] = {"c",   "cc",  "cpp", "cxx", "c++", "h", "hh", "hpp",
                                            "hxx", "ipp", "inl", "rs",  "cs",  "m", "mm", "qml"};
    for (const auto ending : endings)
        if (part(target, dot + 1) == ending) return true;
    return false;
}

// A level by name, 6 for off, -1 for none.
SP_DETAIL_COLD int threshold_of(std::string_view text) {
    constexpr std::string_view names[] = {"trace", "debug", "info", "warn", "error", "fatal", "off", "on"};
    for (int i = 0; i < 8; ++i) {
        if (text.size() != names[i].size()) continue;
        bool same = true;
        for (std::size_t c = 0; c < text.size(); ++c)
            same = same && (text[c] >= 'A' && text[c] <= 'Z' ? text[c] + 32 : text[c]) == names[i][c];
        if (same) return i == 7 ? 0 : i;
    }
    return -1;
}

// A level by name, -1 for none.
SP_DETAIL_COLD int level_of(std::string_view text) {
    return text.size() > 3 ? threshold_of(text) : -1;  // neither off nor on
}

SP_DETAIL_COLD std::string_view trim(std::string_view text) {
    const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

// The parts of a target: a function, a file with or without a line, or else a category.
struct Target {
    enum Kind : std::uint64_t { kMalformed = 0, kCategory = 2, kFile, kFunction, kLine } kind = kMalformed;
    std::string_view pattern{};
    std::uint64_t line = 0;
};

// `is_alone`: without a level behind it, which a category of a single word needs.
SP_DETAIL_COLD Target target_of(std::string_view target, bool is_alone) {
    if (target.empty()) return {};
    bool has_structure = false, has_brackets = false;
    for (std::size_t i = 0; i < target.size(); ++i) {
        const char c = target[i];
        if (static_cast<unsigned char>(c) <= ' ' || c == 0x7F) return {};
        has_structure = has_structure || c == '.' || c == '/' || c == '*' || c == '?' ||
                        begins_with(part(target, i), "::");
        has_brackets = has_brackets || c == '[' || c == ']' || c == '{' || c == '}';
    }
    if (target.ends_with("()")) {
        const auto pattern = part(target, 0, target.size() - 2);
        return pattern.empty() ? Target() : Target{Target::kFunction, pattern};
    }
    if (const auto colon = target.rfind(':');
        colon != std::string_view::npos && is_file(part(target, 0, colon))) {
        std::uint64_t line = 0;
        const auto digits = part(target, colon + 1);
        for (const char c : digits) {
            if (c < '0' || c > '9') return {};
            line = line * 10 + static_cast<unsigned>(c - '0');
            if (line > 0xFFFFFFFF) return {};
        }
        return digits.empty() ? Target() : Target{Target::kLine, part(target, 0, colon), line};
    }
    if (is_file(target)) return {Target::kFile, target};
    if (has_brackets || (is_alone && !has_structure)) return {};
    return {Target::kCategory, target};
}

// How specific a directive's target is for this site; 0: it does not match or is malformed.
SP_DETAIL_COLD std::uint64_t rank_of(const Target& target, const SiteFacts& site) {
    const auto pattern = target.pattern;
    bool matches = false;
    switch (target.kind) {
        case Target::kMalformed:
            return 0;
        case Target::kCategory:
            matches = matches_category(pattern, site.category);
            break;
        case Target::kFile:
            matches = matches_file(pattern, site.file);
            break;
        case Target::kFunction: {
            const auto name = function_name(site.function);
            matches = glob(pattern, name);
            for (std::size_t i = 0; !matches && i + 1 < name.size(); ++i)
                matches = name[i] == ':' && name[i + 1] == ':' && glob(pattern, part(name, i + 2));
            break;
        }
        case Target::kLine:
            matches = target.line == site.line && matches_file(pattern, site.file);
            break;
    }
    std::uint64_t literal = 0;
    for (const char c : pattern) literal += c != '*' && c != '?';
    return matches ? target.kind << 32 | (literal + 1) : 0;
}

// A directive with a target: how specific it is for this site, and the least level that it lets through.
struct Directive {
    Target target;
    int least = -1;
};
SP_DETAIL_COLD Directive directive_of(std::string_view piece) {
    const auto equals = piece.find('=');
    const bool is_alone = equals == std::string_view::npos;
    return {target_of(trim(part(piece, 0, equals)), is_alone),
            is_alone ? 0 : threshold_of(trim(part(piece, equals + 1)))};
}

// The first directive of a text that is malformed, and the text behind it; empty when none is.
SP_DETAIL_COLD std::string_view malformed_directive(std::string_view& text) {
    while (!text.empty()) {
        const auto comma = text.find(',');
        const auto piece = trim(part(text, 0, comma));
        text = comma == std::string_view::npos ? std::string_view() : part(text, comma + 1);
        if (piece.empty() || threshold_of(piece) >= 0) continue;
        const Directive directive = directive_of(piece);
        if (directive.least < 0 || directive.target.kind == Target::kMalformed) return piece;
    }
    return {};
}

// Whether the site is on: the most specific directive decides, among equals the last.
SP_DETAIL_COLD bool decide(std::string_view text, const SiteFacts& site) {
    std::uint64_t best = 0;
    int least = 6;
    while (true) {
        const auto comma = text.find(',');
        const auto piece = trim(part(text, 0, comma));
        if (const int bare = threshold_of(piece); bare >= 0) {
            if (best <= 1) {
                best = 1;
                least = bare;
            }
        } else if (!piece.empty()) {
            const Directive directive = directive_of(piece);
            const std::uint64_t rank = directive.least < 0 ? 0 : rank_of(directive.target, site);
            if (rank != 0 && rank >= best) {
                best = rank;
                least = directive.least;
            }
        }
        if (comma == std::string_view::npos) break;
        text = part(text, comma + 1);
    }
    return best != 0 && static_cast<int>(site.level) >= least;
}

SP_DETAIL_END
