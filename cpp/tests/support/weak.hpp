// Runs a few threads' steps in every order, on a machine whose memory is as weak as the C++ model allows.
// Loads may give old values, and stores of different places may be seen in any order. A load never gives a
// value that is stored later: that is left out. (interleave.hpp has the machine of x86.)
//
// Each place keeps all its values. A thread has a view: for each place the oldest value that it may still
// read. A release store hands its thread's view on, and an acquire load takes it over. Full fences are in one
// order, and hand on everything. Loom and the C11 model checkers do the same.
//
// Each order is a run from the beginning, by a recorded path of choices (depth first): which thread goes on,
// and which value it reads. A run ends at a state that has been seen. A state is the values of all places,
// and of each thread its view and a hash of all that it has read. The hash determines what the thread does.
#pragma once

#include <ucontext.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "interleave.hpp"

namespace weak {

using interleave::cooked;
using interleave::mix;
using interleave::raw;
using interleave::result;

// For each place the number of its oldest value that may be read.
class view {
  public:
    std::size_t at(std::size_t place) const { return place < oldest_.size() ? oldest_[place] : 0; }
    void raise(std::size_t place, std::size_t to) {
        if (place >= oldest_.size()) oldest_.resize(place + 1);
        if (oldest_[place] < to) oldest_[place] = to;
    }
    void join(const view& other) {
        for (std::size_t place = 0; place < other.oldest_.size(); ++place) raise(place, other.oldest_[place]);
    }
    std::uint64_t hash(std::uint64_t seed) const {
        // (A place that nobody has raised is as one with 0.)
        std::size_t end = oldest_.size();
        while (end > 0 && oldest_[end - 1] == 0) --end;
        for (std::size_t place = 0; place < end; ++place) seed = mix(seed, oldest_[place]);
        return mix(seed, 0x76696577);
    }

  private:
    std::vector<std::size_t> oldest_;
};

struct stored {
    std::uint64_t value;
    view handed_on;  // to who reads it with acquire
};

struct thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    std::function<void()> body;
    bool done = false;
    std::uint64_t history = 0;
    view sees;
    view at_release_fence;  // handed on by relaxed stores
    view read;              // taken over at the next acquire fence
    // What it waits for: that a place's newest value is another one, or (asleep) to be waked.
    bool waits = false, asleep = false;
    std::size_t waits_at = 0;
    std::uint64_t unless = 0;
};

class world {
  public:
    static inline world* now = nullptr;

    std::vector<std::vector<stored>> places;
    std::vector<thread> threads;
    view fences;
    thread* running = nullptr;
    ucontext_t scheduler;
    // The path of choices, and how far this run has come on it.
    std::vector<std::pair<unsigned, unsigned>>* path = nullptr;
    std::size_t depth = 0;

    void step() {
        if (running != nullptr) swapcontext(&running->context, &scheduler);
    }
    void note(std::uint64_t what) {
        if (running != nullptr) running->history = mix(running->history, what);
    }
    // One of so many; all of them are tried, each in a run.
    unsigned choose(std::size_t count) {
        if (count <= 1) return 0;
        if (depth == path->size()) path->emplace_back(0, static_cast<unsigned>(count));
        return (*path)[depth++].first;
    }
    void fence() {
        thread& me = *running;
        me.sees.join(me.read);
        me.sees.join(fences);
        fences = me.sees;
        me.at_release_fence = me.sees;
    }
};

inline bool acquires(std::memory_order order) {
    return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}
inline bool releases(std::memory_order order) {
    return order == std::memory_order_release || order == std::memory_order_acq_rel ||
           order == std::memory_order_seq_cst;
}

template <class T>
class atomic {
  public:
    atomic(T value) : place_(world::now->places.size()) {  // NOLINT: as of std::atomic
        world::now->places.push_back({stored{raw(value), {}}});
    }
    atomic(const atomic&) = delete;

    T load(std::memory_order order = std::memory_order_seq_cst) const {
        world& w = *world::now;
        auto& values = w.places[place_];
        if (w.running == nullptr) return cooked<T>(values.back().value);
        w.step();
        thread& me = *w.running;
        if (order == std::memory_order_seq_cst) w.fence();
        const std::size_t oldest = me.sees.at(place_);
        const std::size_t number = values.size() - 1 - w.choose(values.size() - oldest);
        me.sees.raise(place_, number);
        (acquires(order) ? me.sees : me.read).join(values[number].handed_on);
        w.note(mix(number, values[number].value));
        return cooked<T>(values[number].value);
    }
    void store(T value, std::memory_order order = std::memory_order_seq_cst) {
        world& w = *world::now;
        if (w.running == nullptr) {
            w.places[place_].push_back({raw(value), {}});
            for (thread& one : w.threads) one.sees.raise(place_, w.places[place_].size() - 1);
            return;
        }
        w.step();
        if (order == std::memory_order_seq_cst) w.fence();
        put(raw(value), order, {});
        if (order == std::memory_order_seq_cst) w.fence();
    }
    T exchange(T value, std::memory_order order = std::memory_order_seq_cst) {
        return change(order, [&](std::uint64_t) { return raw(value); });
    }
    T fetch_add(T more, std::memory_order order = std::memory_order_seq_cst) {
        return change(order, [&](std::uint64_t was) { return raw(static_cast<T>(cooked<T>(was) + more)); });
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order order = std::memory_order_seq_cst) {
        const T was =
            change(order, [&](std::uint64_t found) { return found == raw(expected) ? raw(value) : found; });
        return raw(was) == raw(expected) || (expected = was, false);
    }
    std::size_t place() const { return place_; }
    std::uint64_t newest() const { return world::now->places[place_].back().value; }

  private:
    // Changes are of the newest value, and pass on what that handed on.
    template <class Function>
    T change(std::memory_order order, Function&& function) {
        world& w = *world::now;
        w.step();
        thread& me = *w.running;
        if (order == std::memory_order_seq_cst) w.fence();
        const stored was = w.places[place_].back();
        me.sees.raise(place_, w.places[place_].size() - 1);
        (acquires(order) ? me.sees : me.read).join(was.handed_on);
        w.note(mix(w.places[place_].size(), was.value));
        if (const std::uint64_t now = function(was.value); now != was.value) put(now, order, was.handed_on);
        return cooked<T>(was.value);
    }
    void put(std::uint64_t value, std::memory_order order, view handed_on) {
        world& w = *world::now;
        thread& me = *w.running;
        me.sees.raise(place_, w.places[place_].size());
        handed_on.join(releases(order) ? me.sees : me.at_release_fence);
        handed_on.raise(place_, w.places[place_].size());
        w.places[place_].push_back({value, std::move(handed_on)});
    }
    std::size_t place_;
};

/// What the code under test is instantiated with.
struct machine {
    template <class T>
    using atomic = weak::atomic<T>;

    static void full_fence() {
        world::now->step();
        world::now->fence();
    }
    /// Until the place has another value, which is then the one that is read.
    template <class Atomic, class Value>
    static void while_equal(const Atomic& where, Value value) {
        world& w = *world::now;
        thread& me = *w.running;
        me.waits = true;
        me.waits_at = where.place();
        me.unless = static_cast<std::uint64_t>(value);
        w.step();
        me.waits = false;
        me.sees.raise(where.place(), w.places[where.place()].size() - 1);
        w.note(w.places[where.place()].size());
    }
    /// As a futex: sleeps if the word still has the value, until it is waked. The kernel's lock orders all.
    template <class Atomic>
    static void sleep(const Atomic& where, std::uint32_t value) {
        world& w = *world::now;
        w.step();
        w.fence();
        w.note(where.newest());
        thread& me = *w.running;
        me.sees.raise(where.place(), w.places[where.place()].size() - 1);
        if (where.newest() != value) return;
        me.asleep = true;
        me.waits_at = where.place();
        w.step();
        w.fence();
    }
    template <class Atomic>
    static void wake(const Atomic& where) {
        world& w = *world::now;
        w.step();
        w.fence();
        for (thread& one : w.threads)
            if (one.asleep && one.waits_at == where.place()) one.asleep = false;
    }
};

/// All orders of the threads of a scenario, as interleave::explore.
template <class Make>
result explore(Make&& make) {
    result all;
    std::unordered_set<std::uint64_t> seen;
    std::vector<std::pair<unsigned, unsigned>> path;
    do {
        ++all.runs;
        world w;
        w.path = &path;
        world::now = &w;
        const auto scenario = make();
        interleave::begin(w, scenario->threads());
        // What was stored before the threads began, all of them see.
        for (thread& one : w.threads)
            for (std::size_t place = 0; place < w.places.size(); ++place)
                one.sees.raise(place, w.places[place].size() - 1);
        while (all.error.empty()) {
            std::vector<unsigned> choices;
            bool done = true;
            for (unsigned i = 0; i < w.threads.size(); ++i) {
                const thread& one = w.threads[i];
                done = done && one.done;
                const bool is_blocked = one.waits && w.places[one.waits_at].back().value == one.unless;
                if (!one.done && !one.asleep && !is_blocked) choices.push_back(i);
            }
            if (choices.empty()) {
                all.error = done ? scenario->wrong() : "nobody can go on";
                break;
            }
            if (w.depth == path.size()) {
                std::uint64_t state = w.fences.hash(1);
                for (const auto& values : w.places) {
                    state = mix(state, values.size());
                    for (const stored& one : values) state = one.handed_on.hash(mix(state, one.value));
                }
                for (const thread& one : w.threads) {
                    state = mix(mix(state, one.history), one.done + 2 * one.asleep + 4 * one.waits);
                    state = one.read.hash(one.at_release_fence.hash(one.sees.hash(state)));
                }
                if (!seen.insert(state).second) break;
            }
            thread& next = w.threads[choices[w.choose(choices.size())]];
            w.running = &next;
            swapcontext(&w.scheduler, &next.context);
            w.running = nullptr;
            next.history = mix(next.history, 1);  // how far it has come
        }
        if (!all.error.empty()) break;
        while (!path.empty() && ++path.back().first == path.back().second) path.pop_back();
    } while (!path.empty());
    all.states = seen.size();
    world::now = nullptr;
    return all;
}

}  // namespace weak
