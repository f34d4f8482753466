// Shared categories of loggers whose names are arguments, since there are too many names. Loggers with the
// same sinks have the same one. So the logger inside the process knows where their lines go (registry.hpp).
// Beyond a number of sets of sinks there is one for all: their sinks select lines by the loggers' names.
#pragma once

#include <list>
#include <map>
#include <set>
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
    // From the next start on loggers whose names are categories can share sites, too, by their names.
    void include_all() { includes_all_ = true; }
    // Whether they can since the last start.
    [[nodiscard]] bool included_all() const { return included_all_.load(std::memory_order_acquire); }
    void is_started() { included_all_.store(includes_all_now_, std::memory_order_release); }

    // Whether the logger has lines whose category does not say which sinks they are for, but their name.
    [[nodiscard]] bool is_by_name(const logger& one) const {
        return one.is_category_() ? includes_all_now_ : is_by_name_(one.shared_category_());
    }
    // A logger of this name would get lines of others.
    static bool is_taken(const std::string& name) {
        for (std::size_t i = 0; i < kMost; ++i)
            if (sp_::matches_category(name, shared_category_name(i))) return true;
        return false;
    }

    // Gives each logger its category, as the logger inside the process is about to be started with.
    void renew(const std::list<logger*>& loggers) {
        includes_all_now_ = includes_all_;
        for (auto& [sinks, one] : known_) one.is_needed = false;
        for (const logger* one : loggers)
            if (const auto found = known_.find(key_of(one->sinks()));
                found != known_.end() && !one->is_category_())
                found->second.is_needed = true;
        std::erase_if(known_, [&](const auto& one) {
            if (!one.second.is_needed) has_number_[one.second.number] = false;
            return !one.second.is_needed;
        });
        for (auto& [sinks, one] : known_) one.names.clear();
        for (logger* one : loggers) {
            if (one->is_category_()) continue;
            const auto [found, is_new] = known_.try_emplace(key_of(std::as_const(*one).sinks()));
            Of& of = found->second;
            if (is_new) of.number = take_number();
            if (of.number == 0) of.names.insert(one->name());
            one->set_shared_category_(shared_category_name(of.number));
        }
    }
    // Of a logger whose lines get to its sinks as the logger inside the process was started; else null.
    [[nodiscard]] const char* find(const logger& one) const {
        const auto found = known_.find(key_of(one.sinks()));
        if (found == known_.end()) return nullptr;
        const Of& of = found->second;
        return of.number == 0 && !of.names.contains(one.name()) ? nullptr : shared_category_name(of.number);
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
        std::set<std::string> names;  // of its loggers, where that is the number of all further sets
    };
    static Key key_of(const std::vector<sink_ptr>& sinks) { return {sinks.begin(), sinks.end()}; }

    // Numbers are used again, so that a program has no more categories than sets of sinks at one time. The
    // first is for all sets beyond these.
    static constexpr std::size_t kMost = 64;
    static const char* shared_category_name(std::size_t number) {
        if (number == 0) return kByName_;
        // For ever, as sites refer to them.
        static const auto& names = *new const std::vector<std::string>([] {
            std::vector<std::string> made;
            for (std::size_t i = 0; i < kMost; ++i) made.push_back("spdlog-" + std::to_string(i));
            return made;
        }());
        return names[number].c_str();
    }
    std::size_t take_number() {
        for (std::size_t i = 1; i < kMost; ++i)
            if (!has_number_[i]) {
                has_number_[i] = true;
                return i;
            }
        return 0;
    }

    std::map<Key, Of, Less> known_;
    bool has_number_[kMost] = {};
    bool includes_all_ = false, includes_all_now_ = false;
    std::atomic<bool> included_all_{false};
};

}  // namespace spdlog
