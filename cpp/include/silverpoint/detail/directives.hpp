// Which sites are on (spec/directives.md). Works on the text itself, without allocation; malformed directives
// are passed over.
#pragma once

#include <string_view>

#include "config.hpp"

SP_DETAIL_BEGIN

// What directives look at.
struct SiteFacts {
    Level level;
    std::string_view category;
    std::string_view file;
    std::uint32_t line;
    std::string_view function;
};

// As substr, without what it would throw: the C library of tracepoints has no C++ library.
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

// The qualified name in what the compiler calls a function: `ns::Pump::start` of `void ns::Pump::start(int)
// [with T = int]`.
SP_DETAIL_COLD std::string_view function_name(std::string_view text) {
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

// How specific a directive's target is for this site; 0: it does not match or is malformed.
SP_DETAIL_COLD std::uint64_t rank_of(std::string_view target, const SiteFacts& site) {
    if (target.empty()) return 0;
    std::uint64_t literal = 0;
    for (const char c : target) {
        if (static_cast<unsigned char>(c) <= ' ' || c == 0x7F) return 0;
        literal += c != '*' && c != '?';
    }
    const auto rank = [&](std::uint64_t kind, std::uint64_t chars) { return kind << 32 | (chars + 1); };
    if (target.ends_with("()")) {
        const auto pattern = part(target, 0, target.size() - 2);
        if (pattern.empty()) return 0;
        const auto name = function_name(site.function);
        bool matches = glob(pattern, name);
        for (std::size_t i = 0; !matches && i + 1 < name.size(); ++i)
            matches = name[i] == ':' && name[i + 1] == ':' && glob(pattern, part(name, i + 2));
        return matches ? rank(4, literal - 2) : 0;
    }
    if (const auto colon = target.rfind(':');
        colon != std::string_view::npos && is_file(part(target, 0, colon))) {
        std::uint64_t line = 0;
        const auto digits = part(target, colon + 1);
        for (const char c : digits) {
            if (c < '0' || c > '9' || line > 0xFFFFFFFF) return 0;
            line = line * 10 + static_cast<unsigned>(c - '0');
        }
        const auto file = part(target, 0, colon);
        return !digits.empty() && line == site.line && matches_file(file, site.file)
                   ? rank(5, literal - 1 - digits.size())
                   : 0;
    }
    if (is_file(target)) return matches_file(target, site.file) ? rank(3, literal) : 0;
    return matches_category(target, site.category) ? rank(2, literal) : 0;
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
            const auto equals = piece.find('=');
            const auto target = trim(part(piece, 0, equals));
            const int level =
                equals == std::string_view::npos ? 0 : threshold_of(trim(part(piece, equals + 1)));
            const std::uint64_t rank = level < 0 ? 0 : rank_of(target, site);
            if (rank != 0 && rank >= best) {
                best = rank;
                least = level;
            }
        }
        if (comma == std::string_view::npos) break;
        text = part(text, comma + 1);
    }
    return best != 0 && static_cast<int>(site.level) >= least;
}

SP_DETAIL_END
