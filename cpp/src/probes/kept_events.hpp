// The events of sites of sessions that are over, by their descriptions. A shared object that was unloaded
// makes the same sites again when it is loaded again: their events are there.
#pragma once

#include <silverpoint/detail/arena.hpp>

#include "description.hpp"

namespace silverpoint::probes {

template <class Event>
class KeptEvents {
  public:
    // `hash`: of the site's description. Without memory for it the event is made again.
    void keep(std::uint64_t hash, Event* event) {
        if (find(hash) != nullptr) return;
        void* const memory = keep_memory(sizeof(Kept));
        if (memory == nullptr) return;
        Kept*& first = firsts_[hash % kFirsts];
        first = ::new (memory) Kept{first, hash, event};
    }
    // Null: there is none.
    Event* find(std::uint64_t hash) const {
        const Kept* found = firsts_[hash % kFirsts];
        while (found != nullptr && found->hash != hash) found = found->next;
        return found == nullptr ? nullptr : found->event;
    }

  private:
    struct Kept {
        Kept* next;
        std::uint64_t hash;
        Event* event;
    };
    static constexpr std::size_t kFirsts = 1024;
    Kept* firsts_[kFirsts] = {};
};

}  // namespace silverpoint::probes
