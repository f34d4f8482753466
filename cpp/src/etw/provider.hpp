// A provider, and for which levels and keywords its events are wanted.
//
//   EventRegister's callback ─▶ Provider::heed ─▶ Switch::is_wanted ◀─ tracepoints (ProbeEvent::state)
//
// Each event has the switch of its level and keyword, so a tracepoint looks at one number.
#pragma once

#include <atomic>
#include <new>
#include <silverpoint/detail/arena.hpp>

#include "identity.hpp"

namespace silverpoint::etw {

// Held for some loads and stores.
class SpinLock {
  public:
    void lock() {
        for (unsigned tries = 0; is_taken_.exchange(true, std::memory_order_acquire); ++tries)
            if (tries > 100) detail::sleep_ns(100'000);
    }
    void unlock() { is_taken_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> is_taken_{false};
};
class Locked {
  public:
    explicit Locked(SpinLock& lock) : lock_(lock) { lock_.lock(); }
    ~Locked() { lock_.unlock(); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

  private:
    SpinLock& lock_;
};

// It is never freed.
struct Switch {
    Switch* next = nullptr;
    std::uint8_t level = 0;
    std::uint64_t keyword = 0;
    int is_wanted = 0;
};

// It is never freed.
class Provider {
  public:
    enum Control : std::uint32_t { kDisable = 0, kEnable = 1 };

    Provider(const ProviderId& id, std::string_view traits) : id_(id), traits_(traits) {}
    const ProviderId& id() const { return id_; }
    // What its events carry of it: the size of all, its name, a zero.
    std::string_view traits() const { return traits_; }
    std::string_view name() const { return detail::part(traits_, 2, traits_.size() - 3); }

    // What the sessions want, all together, each time that it changes. By any thread.
    void heed(std::uint32_t control, std::uint8_t level, std::uint64_t any, std::uint64_t all) {
        // Another control asks for the state of the program, of which we have none to tell.
        if (control != kDisable && control != kEnable) return;
        const Locked locked(lock_);
        is_enabled_ = control == kEnable;
        level_ = level;
        any_ = any;
        all_ = all;
        if (!is_silent_)
            for (Switch* of = first_; of != nullptr; of = of->next) decide(*of);
    }
    // Nothing is wanted until `speak`.
    void silence() {
        const Locked locked(lock_);
        is_silent_ = true;
        for (Switch* of = first_; of != nullptr; of = of->next)
            __atomic_store_n(&of->is_wanted, 0, __ATOMIC_SEQ_CST);
    }
    void speak() {
        const Locked locked(lock_);
        is_silent_ = false;
        for (Switch* of = first_; of != nullptr; of = of->next) decide(*of);
    }

    // The switch of a level and keyword, made if there is none; null without memory. By one thread.
    Switch* switch_of(std::uint8_t level, std::uint64_t keyword) {
        for (Switch* of = first_; of != nullptr; of = of->next)
            if (of->level == level && of->keyword == keyword) return of;
        void* const memory = detail::keep_memory(sizeof(Switch));
        if (memory == nullptr) return nullptr;
        auto* const made = ::new (memory) Switch;
        made->level = level;
        made->keyword = keyword;
        const Locked locked(lock_);
        made->next = first_;
        first_ = made;
        if (!is_silent_) decide(*made);
        return made;
    }

    Provider* next = nullptr;
    // What the system knows it by, while it is registered.
    std::atomic<std::uint64_t> handle{0};
    bool is_registered = false, is_refused = false;

  private:
    // Level 0 is all levels. So is a mask of 0 all keywords: controllers differ in what they pass for that.
    // The system asks each session again, so what is written in vain goes nowhere.
    void decide(Switch& of) const {
        const bool has_level = level_ == 0 || of.level <= level_;
        const bool has_keyword = (any_ == 0 || (of.keyword & any_) != 0) && (of.keyword & all_) == all_;
        __atomic_store_n(&of.is_wanted, is_enabled_ && has_level && has_keyword ? 1 : 0, __ATOMIC_SEQ_CST);
    }

    alignas(4) const ProviderId id_;
    const std::string_view traits_;
    // Guards what follows.
    SpinLock lock_;
    bool is_enabled_ = false, is_silent_ = false;
    std::uint8_t level_ = 0;
    std::uint64_t any_ = 0, all_ = 0;
    Switch* first_ = nullptr;
};

}  // namespace silverpoint::etw
