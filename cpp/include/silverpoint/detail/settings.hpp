// What the environment asks for (spec/directives.md). A value that is not understood counts as not given.
#pragma once

#include "sys.hpp"

extern "C" {
// What a program that includes logger.hpp records before its logger starts; not there in others.
[[gnu::weak, gnu::visibility("hidden")]] const char* silverpoint_kept_for_logger();
}

SP_DETAIL_BEGIN

struct Settings {
    bool demanded = false;
    bool expected = false;
    bool off = false;
    bool kept = false;  // for a logger that may start
    const char* filter = "";
    Policy policy[6] = {};
    std::uint32_t block_max_ms = 1000;
    std::uint64_t memory = 0;  // bytes; 0: not given
};

// Number with K, M or G behind it.
SP_DETAIL_COLD std::uint64_t parse_size(const char* text) {
    std::uint64_t value = 0;
    while (*text >= '0' && *text <= '9' && value < (1ull << 30))
        value = value * 10 + static_cast<unsigned>(*text++ - '0');
    if (*text == 'K' || *text == 'k') value <<= 10;
    if (*text == 'M' || *text == 'm') value <<= 20;
    if (*text == 'G' || *text == 'g') value <<= 30;
    return value;
}

SP_DETAIL_COLD Settings read_settings() {
    Settings settings;
    if (const char* filter = environment("SILVERPOINT_FILTER")) {
        settings.demanded = true;
        settings.filter = filter;
    } else if (silverpoint_kept_for_logger != nullptr) {
        settings.filter = silverpoint_kept_for_logger();
        settings.kept = *settings.filter != 0;
    }
    const char* collector = environment("SILVERPOINT_COLLECTOR");
    settings.expected = collector != nullptr && std::strcmp(collector, "1") == 0;
    const char* off = environment("SILVERPOINT_OFF");
    settings.off = getauxval(AT_SECURE) != 0 || (off != nullptr && std::strcmp(off, "1") == 0);
    if (const char* memory = environment("SILVERPOINT_MEMORY")) settings.memory = parse_size(memory);
    if (const char* most = environment("SILVERPOINT_BLOCK_MAX")) {
        std::uint64_t ms = 0;
        while (*most >= '0' && *most <= '9' && ms < 10'000'000)
            ms = ms * 10 + static_cast<unsigned>(*most++ - '0');
        settings.block_max_ms = static_cast<std::uint32_t>(*most == 'm' ? ms : ms * 1000);
    }
    // POLICY[,level=POLICY]…
    const char* text = environment("SILVERPOINT_POLICY");
    while (text != nullptr && *text != 0) {
        std::size_t len = std::strcspn(text, ",");
        const char* value = text;
        int level = -1;
        if (const void* equals = std::memchr(text, '=', len);
            equals != nullptr && std::strncmp(text, "block=", 6) != 0) {
            constexpr const char* names[] = {"trace", "debug", "info", "warn", "error", "fatal"};
            const auto name = static_cast<std::size_t>(static_cast<const char*>(equals) - text);
            for (int i = 0; i < 6; ++i)
                if (std::strlen(names[i]) == name && std::memcmp(names[i], text, name) == 0) level = i;
            value = text + name + 1;
        }
        const auto is = [&](const char* word) {
            return static_cast<std::size_t>(text + len - value) == std::strlen(word) &&
                   std::memcmp(value, word, std::strlen(word)) == 0;
        };
        Policy policy = Policy::kBlock;
        if (is("drop")) policy = Policy::kDrop;
        if (is("overwrite")) policy = Policy::kOverwrite;
        if (is("block=forever")) settings.block_max_ms = kBlockForEver;
        for (int i = 0; i < 6; ++i)
            if (level < 0 || level == i) settings.policy[i] = policy;
        text += len + (text[len] == ',');
    }
    return settings;
}

SP_DETAIL_END
