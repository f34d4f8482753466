// A thread's context: the fields that all its records have at this moment (spec/wire.md, section 6,
// Contexts).
//
//   enter ─▶ bytes beside the thread's lanes ─▶ every lane must take the cold path  a tracepoint inside costs
//                                                     │ its next record: cold path   what it costs outside
//                                                     ▼
//                          stated already? ── no ──▶ a context record, then the record (refill.hpp)
//
// Scopes are stacked. Each content has a state, a number that is never used again in the thread. A lane
// remembers which one it has stated last. Leaving a scope restores the state before it: a scope without
// records leaves nothing in a ring. The memory is wiped in a forked child, like the lanes.
//
// A signal handler may enter and leave scopes, too. If it interrupts a change it finds the scopes busy, and
// its own scope is not recorded.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "config.hpp"

SP_DETAIL_BEGIN

inline constexpr unsigned kScopesMax = 24;
inline constexpr std::size_t kContextBytes = 1424;

// All zero is a thread without fields.
class Contexts {
  public:
    // Those of a thread that has just begun.
    void reset() { busy_ = count_ = 0; }

    bool is_busy() const { return busy_ != 0; }
    // Of the content now; 0: no fields.
    std::uint64_t state() const { return count_ == 0 ? 0 : scopes_[count_ - 1].state; }
    std::size_t size() const { return count_ == 0 ? 0 : scopes_[count_ - 1].end; }
    std::size_t room() const { return kContextBytes - size(); }
    bool is_cut() const {
        for (std::uint32_t i = 0; i < count_; ++i)
            if (scopes_[i].cut != 0) return true;
        return false;
    }
    // Names and values as pairs of CBOR items, the outermost scope's first. Only within alone().
    const char* pairs() const { return bytes_; }

    // Does something that a change must not interrupt; false if this has interrupted one.
    template <class Work>
    bool alone(const Work& work) {
        if (busy_ != 0) return false;
        busy_ = 1;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        work();
        std::atomic_signal_fence(std::memory_order_seq_cst);
        busy_ = 0;
        return true;
    }

    // The code that was changing it was left behind: the complete part stays.
    void give_up() { busy_ = 0; }

    // The number of the new scope; 0 when there are too many. Pairs without room are left out altogether.
    std::uint64_t push(const char* pairs, std::size_t size, bool cut) {
        std::uint64_t number = 0;
        alone([&] {
            if (count_ == kScopesMax) return;
            const std::size_t begin = this->size();
            if (size > kContextBytes - begin) {
                size = 0;
                cut = true;
            }
            if (size != 0) std::memcpy(bytes_ + begin, pairs, size);
            number = ++last_;
            scopes_[count_] = {number, number, static_cast<std::uint32_t>(begin + size), cut ? 1u : 0u};
            std::atomic_signal_fence(std::memory_order_seq_cst);
            ++count_;
        });
        return number;
    }

    // False if no such scope is open.
    bool remove(std::uint64_t number) {
        bool removed = false;
        alone([&] {
            std::uint32_t place = count_;
            while (place > 0 && scopes_[place - 1].number != number) --place;
            if (place-- == 0) return;
            const std::uint32_t begin = place == 0 ? 0 : scopes_[place - 1].end;
            const std::uint32_t end = scopes_[place].end;
            // The scopes above it move down.
            std::memmove(bytes_ + begin, bytes_ + end, size() - end);
            for (std::uint32_t i = place + 1; i < count_; ++i) {
                const Scope& from = scopes_[i];
                scopes_[i - 1] = {from.number, ++last_, from.end - (end - begin), from.cut};
            }
            --count_;
            removed = true;
        });
        return removed;
    }

  private:
    struct Scope {
        // Identifies it for the code that leaves it.
        std::uint64_t number;
        // Of the content up to here.
        std::uint64_t state;
        // Where its bytes end.
        std::uint32_t end;
        // 1: something of it was left out.
        std::uint32_t cut;
    };

    std::uint32_t busy_ = 0;
    std::uint32_t count_ = 0;
    // The last number that was given to a scope or a state.
    std::uint64_t last_ = 0;
    Scope scopes_[kScopesMax] = {};
    char bytes_[kContextBytes] = {};
};

SP_DETAIL_END
