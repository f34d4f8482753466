// Texts of a thread that the pattern's flag %& shows: [key:value key:value].
#pragma once

#include <map>
#include <string>

namespace spdlog {

// Thread-safe: any thread; each has its own texts. Cost: a look-up in a map, which allocates.
class mdc {
  public:
    using mdc_map_t = std::map<std::string, std::string>;

    static void put(const std::string& key, const std::string& value) { get_context()[key] = value; }
    // Empty for a key that is not there.
    static std::string get(const std::string& key) {
        const mdc_map_t& all = get_context();
        const auto found = all.find(key);
        return found == all.end() ? std::string() : found->second;
    }
    static void remove(const std::string& key) { get_context().erase(key); }
    static void clear() { get_context().clear(); }
    static mdc_map_t& get_context() {
        static thread_local mdc_map_t here;
        return here;
    }
    static void append_(std::string& out) {
        bool is_first = true;
        for (const auto& [key, value] : get_context()) {
            if (!is_first) out += ' ';
            is_first = false;
            out.append(key).append(":").append(value);
        }
    }
};

}  // namespace spdlog
