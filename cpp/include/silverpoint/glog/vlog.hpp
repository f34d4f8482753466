// Verbose messages: which numbers are on, for all files (FLAGS_v) or by file (FLAGS_vmodule, SetVLOGLevel).
#pragma once

#include <deque>

#include "raw.hpp"

namespace google {
namespace glog_internal_namespace_ {

// * and ?.
inline bool matches(std::string_view pattern, std::string_view text) {
    std::size_t at = 0, star = std::string_view::npos, retry = 0, next = 0;
    while (next < text.size()) {
        if (at < pattern.size() &&
            (pattern[at] == '?' || (pattern[at] == text[next] && pattern[at] != '*'))) {
            ++at;
            ++next;
        } else if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            retry = next;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            next = ++retry;
        } else {
            return false;
        }
    }
    while (at < pattern.size() && pattern[at] == '*') ++at;
    return at == pattern.size();
}

// A file's module name: without directories, up to the first point, and without -inl.
inline std::string_view module_of(const char* file) {
    std::string_view name = base_name(file);
    name = name.substr(0, name.find('.'));
    if (name.ends_with("-inl")) name.remove_suffix(4);
    return name;
}

struct Verbosity {
    struct Module {
        std::string pattern;
        std::int32_t level;
    };
    std::mutex lock;
    // The first match counts. Addresses stay valid.
    std::deque<Module> modules;
    bool has_read_flag = false;
    // Grows when places must check again.
    std::atomic<unsigned> generation{1};

    // FLAGS_vmodule, once.
    void read_flag() {
        if (std::exchange(has_read_flag, true)) return;
        std::string_view rest = FLAGS_vmodule;
        while (!rest.empty()) {
            const std::size_t comma = rest.find(',');
            const std::string_view item = rest.substr(0, comma);
            rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
            const std::size_t equals = item.find('=');
            if (equals == std::string_view::npos || equals + 1 >= item.size()) continue;
            modules.push_back(
                {std::string(item.substr(0, equals)),
                 static_cast<std::int32_t>(std::strtol(item.data() + equals + 1, nullptr, 10))});
        }
    }
};
inline Verbosity& verbosity = *new Verbosity;

// Of one place: where the number that counts for it stands.
struct VerbosePlace {
    std::atomic<const std::int32_t*> level{nullptr};
    std::atomic<unsigned> generation{0};

    bool is_on(std::int32_t wanted, const char* file) {
        if (generation.load(std::memory_order_acquire) !=
            verbosity.generation.load(std::memory_order_relaxed)) [[unlikely]]
            look(file);
        return __atomic_load_n(level.load(std::memory_order_relaxed), __ATOMIC_RELAXED) >= wanted;
    }

  private:
    [[gnu::noinline, gnu::cold]] void look(const char* file) {
        const std::lock_guard guard(verbosity.lock);
        verbosity.read_flag();
        const std::string_view module = module_of(file);
        // A place that a pattern has claimed stays with it.
        const std::int32_t* found = level.load(std::memory_order_relaxed);
        if (found == nullptr) found = &FLAGS_v;
        if (found == &FLAGS_v)
            for (const auto& known : verbosity.modules) {
                if (!matches(known.pattern, module)) continue;
                found = &known.level;
                break;
            }
        level.store(found, std::memory_order_relaxed);
        generation.store(verbosity.generation.load(std::memory_order_relaxed), std::memory_order_release);
    }
};

}  // namespace glog_internal_namespace_

// Returns the number that was in force for this pattern. Places that match use the new one from now on.
// Thread-safe: any thread. Cost: a lock; each place of VLOG looks again at its next call.
inline int SetVLOGLevel(const char* module_pattern, int log_level) {
    using namespace glog_internal_namespace_;
    int before = FLAGS_v;
    {
        const std::lock_guard guard(verbosity.lock);
        verbosity.read_flag();
        bool is_known = false;
        for (auto& known : verbosity.modules) {
            if (known.pattern == module_pattern) {
                if (!is_known) before = known.level;
                known.level = log_level;
                is_known = true;
            } else if (!is_known && matches(known.pattern, module_pattern)) {
                before = known.level;
            }
        }
        if (!is_known) verbosity.modules.push_front({module_pattern, log_level});
        verbosity.generation.fetch_add(1, std::memory_order_release);
    }
    return before;
}

}  // namespace google
