// Shared categories of loggers whose names are arguments, since there are too many names. Loggers with the
// same sinks have the same one. So the logger inside the process knows where their lines go (registry.hpp).
#pragma once

#include <list>
#include <map>
#include <string>
#include <vector>

#include "combined.hpp"
#include "logger.hpp"

namespace spdlog {

inline bool has_customs_(const std::vector<sink_ptr>& sinks) {
    for (const auto& [sink, own] : leaves_(sinks))
        if (sink->is_custom_()) return true;
    return false;
}

// With the registry's lock held.
class shared_categories_ {
  public:
    // Gives each logger its category, as the logger inside the process is about to be started with.
    void renew(const std::list<logger*>& loggers) {
        for (auto& [sinks, one] : known_) one.is_needed = false;
        for (const logger* one : loggers)
            if (const auto found = known_.find(key_of(one->sinks())); found != known_.end())
                found->second.is_needed = true;
        std::erase_if(known_, [&](const auto& one) {
            if (!one.second.is_needed) is_taken_[one.second.number] = false;
            return !one.second.is_needed;
        });
        for (logger* one : loggers) {
            const auto [found, is_new] = known_.try_emplace(key_of(std::as_const(*one).sinks()));
            if (is_new) found->second.number = take_number();
            one->set_shared_category_(name(found->second.number));
        }
    }
    // Of loggers with these sinks, if there was one when the logger inside the process was started.
    [[nodiscard]] const char* find(const std::vector<sink_ptr>& sinks) const {
        const auto found = known_.find(key_of(sinks));
        return found == known_.end() ? nullptr : name(found->second.number);
    }

  private:
    // By identity, also of those that are gone: another one may lie where one was.
    using Key = std::vector<std::weak_ptr<sinks::sink>>;
    struct Less {
        bool operator()(const Key& left, const Key& right) const {
            return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                                std::owner_less<>());
        }
    };
    struct Of {
        std::size_t number = 0;
        bool is_needed = true;
    };
    static Key key_of(const std::vector<sink_ptr>& sinks) { return {sinks.begin(), sinks.end()}; }

    // Numbers are used again, so that a program has no more categories than sets of sinks at one time. The
    // first is for all sets beyond these.
    static constexpr std::size_t kMost = 64;
    static const char* name(std::size_t number) {
        // For ever, as sites refer to them.
        static const auto& names = *new const std::vector<std::string>([] {
            std::vector<std::string> made;
            for (std::size_t i = 0; i < kMost; ++i) made.push_back("spdlog." + std::to_string(i));
            return made;
        }());
        return names[number].c_str();
    }
    std::size_t take_number() {
        for (std::size_t i = 1; i < kMost; ++i)
            if (!is_taken_[i]) {
                is_taken_[i] = true;
                return i;
            }
        return 0;
    }

    std::map<Key, Of, Less> known_;
    bool is_taken_[kMost] = {};
};

}  // namespace spdlog
