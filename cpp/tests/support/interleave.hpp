// Runs a few threads' steps in every order that a machine with store buffers (x86) can bring about.
//
// The code under test takes its atomics from `interleave::machine`. Each operation on one is a step. Plain
// stores go into the thread's buffer and reach memory some steps later, in order. Sequentially consistent
// ones and exchanges empty the buffer first. A heavy barrier empties the buffers of all threads. An access to
// protected data has a beginning and an end, between which others may run. Two that overlap, one of them
// writing, are an error. A state in which no thread can go on is another.
//
// Each order is a run from the beginning, by a recorded path of choices (depth first). A run ends at a
// state that has been seen: memory, buffers, and of each thread a hash of all that it has read. The hash
// determines what the thread does.
#pragma once

#include <ucontext.h>

#include <bit>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace interleave {

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    a ^= b + 0x9E3779B97F4A7C15 + (a << 6) + (a >> 2);
    a *= 0xFF51AFD7ED558CCD;
    return a ^ a >> 32;
}

// A value as the bits that a machine keeps, and back.
template <class T>
std::uint64_t raw(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T>
T cooked(std::uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// A thread of the world for each body, about to begin.
template <class World>
void begin(World& w, std::vector<std::function<void()>> bodies) {
    for (auto& body : bodies) {
        w.threads.emplace_back();
        w.threads.back().body = std::move(body);
    }
    for (auto& one : w.threads) {
        constexpr std::size_t size = 32768;
        one.stack = std::make_unique_for_overwrite<char[]>(size);
        getcontext(&one.context);
        one.context.uc_stack.ss_sp = one.stack.get();
        one.context.uc_stack.ss_size = size;
        one.context.uc_link = &w.scheduler;
        makecontext(
            &one.context,
            [] {
                auto* const me = World::now->running;
                me->body();
                me->done = true;
            },
            0);
    }
}

struct variable {
    std::uint64_t value;
    bool is_address;          // of memory that is elsewhere in each run
    std::uint64_t order = 0;  // of the exchanges, which stand for the data that a lock protects
};

struct cell {
    std::uint64_t writing = 0;
    unsigned readers = 0;
    std::uint64_t content = 0;
};

struct thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    std::function<void()> body;
    bool done = false;
    std::uint64_t history = 0;
    std::deque<std::pair<std::uint64_t*, std::uint64_t>> buffer;
    // What it waits for: a variable that has another value, or (asleep) to be waked.
    const variable* waits = nullptr;
    std::uint64_t unless = 0;
    bool asleep = false;
};

class world {
  public:
    static inline world* now = nullptr;

    std::vector<variable*> variables;
    std::deque<std::pair<const void*, cell>> cells;  // in the order of their first use
    std::vector<thread> threads;
    std::vector<std::uint64_t> addresses;
    thread* running = nullptr;
    std::string error;
    std::vector<std::unique_ptr<char[]>> memory;  // never used again within a run: an address is a place

    void fail(const std::string& what) {
        if (error.empty()) error = what;
    }
    void step() {
        if (running != nullptr) swapcontext(&running->context, &scheduler);
    }
    void note(std::uint64_t what) {
        if (running != nullptr) running->history = mix(running->history, what);
    }
    void drain(thread& of) {
        while (!of.buffer.empty()) flush(of);
    }
    void flush(thread& of) {
        *of.buffer.front().first = of.buffer.front().second;
        of.buffer.pop_front();
    }
    cell& at(const void* place) {
        for (auto& [known, state] : cells)
            if (known == place) return state;
        return cells.emplace_back(place, cell()).second;
    }
    // Addresses by the order of their first appearance, so that equal states are equal.
    std::uint64_t told(const variable& of, std::uint64_t value) {
        if (!of.is_address || value == 0) return value;
        for (std::size_t i = 0; i < addresses.size(); ++i)
            if (addresses[i] == value) return i + 1;
        addresses.push_back(value);
        return addresses.size();
    }
    std::uint64_t told_at(const std::uint64_t* where, std::uint64_t value) {
        const std::size_t i = index(where);
        return i < variables.size() ? told(*variables[i], value) : value;
    }
    std::size_t index(const std::uint64_t* where) const {
        std::size_t i = 0;
        for (const variable* one : variables) {
            if (&one->value == where) return i;
            ++i;
        }
        for (const auto& [place, one] : cells) {
            if (&one.writing == where) return i;
            ++i;
        }
        return i;
    }
    std::uint64_t read(const variable& from) {
        if (running != nullptr)
            for (auto one = running->buffer.rbegin(); one != running->buffer.rend(); ++one)
                if (one->first == &from.value) return one->second;
        return from.value;
    }

    ucontext_t scheduler;
};

template <class T>
class atomic {
  public:
    atomic(T value) : it_{raw(value), std::is_pointer_v<T>} {  // NOLINT: as of std::atomic
        world::now->variables.push_back(&it_);
    }
    atomic(const atomic&) = delete;

    T load(std::memory_order = std::memory_order_seq_cst) const {
        world::now->step();
        const std::uint64_t got = world::now->read(it_);
        world::now->note(world::now->told(it_, got));
        return cooked<T>(got);
    }
    void store(T value, std::memory_order order = std::memory_order_seq_cst) {
        world& w = *world::now;
        w.step();
        if (w.running != nullptr && order != std::memory_order_seq_cst) {
            w.running->buffer.emplace_back(&it_.value, raw(value));
            return;
        }
        if (w.running != nullptr) w.drain(*w.running);
        it_.value = raw(value);
    }
    T exchange(T value, std::memory_order = std::memory_order_seq_cst) {
        return change([&](std::uint64_t) { return raw(value); });
    }
    T fetch_add(T more, std::memory_order = std::memory_order_seq_cst) {
        return change([&](std::uint64_t was) { return raw(static_cast<T>(cooked<T>(was) + more)); });
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order = std::memory_order_seq_cst) {
        const T was =
            change([&](std::uint64_t found) { return found == raw(expected) ? raw(value) : found; });
        return raw(was) == raw(expected) || (expected = was, false);
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order order = std::memory_order_seq_cst) {
        return compare_exchange_strong(expected, value, order);
    }
    const variable& it() const { return it_; }

  private:
    template <class Function>
    T change(Function&& function) {
        world& w = *world::now;
        w.step();
        if (w.running != nullptr) w.drain(*w.running);
        const std::uint64_t was = it_.value;
        it_.value = function(was);
        if (it_.value != was && w.running != nullptr) it_.order = mix(it_.order, w.running->history);
        w.note(mix(w.told(it_, was), it_.order));
        return cooked<T>(was);
    }
    variable it_;
};

/// What the code under test is instantiated with.
struct machine {
    template <class T>
    using atomic = interleave::atomic<T>;

    template <class Atomic, class Value>
    static void light_store(Atomic& where, Value value) {
        where.store(value, std::memory_order_release);
    }
    /// Few, so that a thread becomes the only one again within a test.
    static constexpr std::uint32_t patience = 2;
    static void full_fence() {
        world::now->step();
        world::now->drain(*world::now->running);
    }
    static void heavy_barrier() {
        world::now->step();
        for (thread& one : world::now->threads) world::now->drain(one);
    }
    template <class Atomic, class Value>
    static void while_equal(const Atomic& where, Value value) {
        thread& me = *world::now->running;
        me.waits = &where.it();
        me.unless = static_cast<std::uint64_t>(value);
        world::now->step();
        me.waits = nullptr;
    }
    template <class Atomic>
    static void sleep(const Atomic& where, std::uint32_t value) {
        world& w = *world::now;
        w.step();
        w.drain(*w.running);
        w.note(where.it().value);
        if (where.it().value != value) return;
        fall_asleep(where);
    }
    template <class Atomic>
    static void fall_asleep(const Atomic& where) {
        world& w = *world::now;
        w.running->waits = &where.it();
        w.running->asleep = true;
        w.step();
        w.running->waits = nullptr;
    }
    template <class Atomic>
    static void wake(const Atomic& where) {
        world& w = *world::now;
        w.step();
        w.drain(*w.running);
        for (thread& one : w.threads)
            if (one.asleep && one.waits == &where.it()) {
                one.asleep = false;
                one.waits = nullptr;
            }
    }
    template <class T>
    static T* allocate(std::size_t count) {
        world& w = *world::now;
        w.memory.push_back(std::make_unique<char[]>(count * sizeof(T)));
        return reinterpret_cast<T*>(w.memory.back().get());
    }
    /// From here on each access to it is an error.
    template <class T>
    static void release(T* at, std::size_t count) {
        world& w = *world::now;
        if (w.running == nullptr) return;
        for (std::size_t i = 0; i < count; ++i) {
            cell& it = w.at(at + i);
            if (it.writing != 0 || it.readers != 0) w.fail("released while it was in use");
            it.writing = 1;
        }
    }
    template <class Function>
    static void read(const void* place, Function&& function) {
        world& w = *world::now;
        if (w.running == nullptr) return function();
        w.step();
        if (w.at(place).writing != 0) w.fail("read while it was being written");
        ++w.at(place).readers;
        w.note(w.at(place).content);
        function();
        w.step();
        --w.at(place).readers;
    }
    template <class Function>
    static void write(const void* place, Function&& function) {
        world& w = *world::now;
        if (w.running == nullptr) return function();
        w.step();
        cell& it = w.at(place);
        // The end of its own last access may be on its way still; nobody else has seen it, so that it is the
        // same one.
        std::erase_if(w.running->buffer, [&](const auto& entry) {
            return entry.first == &it.writing && (it.writing = 0, true);
        });
        if (it.writing != 0 || it.readers != 0) w.fail("written while it was in use");
        it.writing = 1;
        it.content = mix(it.content, w.running->history);
        w.note(it.content);
        function();
        w.step();
        w.running->buffer.emplace_back(&w.at(place).writing, 0);  // in use until others can see the end
    }
};

struct result {
    std::string error;  ///< of the first order that is wrong; empty when all are right
    std::size_t runs = 0;
    std::size_t states = 0;
};

/// All orders of the threads of a scenario. `make()` makes a new one, with
/// `std::vector<std::function<void()>> threads()`, and `std::string wrong()`, called when all have ended.
template <class Make>
result explore(Make&& make) {
    result all;
    std::unordered_set<std::uint64_t> seen;
    std::vector<std::pair<unsigned, unsigned>> path;  // the choice, and how many there were
    do {
        ++all.runs;
        world w;
        world::now = &w;
        const auto scenario = make();
        begin(w, scenario->threads());
        bool pruned = false;
        for (std::size_t depth = 0; all.error.empty(); ++depth) {
            std::vector<std::pair<unsigned, bool>> choices;  // a thread, and whether its buffer moves instead
            bool done = true;
            for (unsigned i = 0; i < w.threads.size(); ++i) {
                const thread& one = w.threads[i];
                done = done && one.done;
                if (!one.buffer.empty()) choices.emplace_back(i, true);
                if (!one.done && !one.asleep && (one.waits == nullptr || one.waits->value != one.unless))
                    choices.emplace_back(i, false);
            }
            if (!w.error.empty()) all.error = w.error;
            if (!all.error.empty()) break;
            if (choices.empty()) {
                all.error = done ? scenario->wrong() : "nobody can go on";
                break;
            }
            if (depth == path.size()) {
                std::uint64_t state = 1;
                for (const variable* one : w.variables)
                    state = mix(mix(state, w.told(*one, one->value)), one->order);
                for (const auto& [place, one] : w.cells)
                    state = mix(mix(mix(state, one.writing), one.readers), one.content);
                for (const thread& one : w.threads) {
                    state =
                        mix(mix(state, one.history), one.done + 2 * one.asleep + 4 * (one.waits != nullptr));
                    for (const auto& [where, value] : one.buffer)
                        state = mix(mix(state, w.index(where)), w.told_at(where, value));
                }
                if (!seen.insert(state).second) {
                    pruned = true;
                    break;
                }
                path.emplace_back(0, static_cast<unsigned>(choices.size()));
            }
            const auto [who, flushes] = choices[path[depth].first];
            thread& next = w.threads[who];
            if (flushes) {
                w.flush(next);
            } else {
                w.running = &next;
                swapcontext(&w.scheduler, &next.context);
                w.running = nullptr;
                next.history = mix(next.history, 1);  // how far it has come
            }
        }
        static_cast<void>(pruned);
        if (!all.error.empty()) break;
        while (!path.empty() && ++path.back().first == path.back().second) path.pop_back();
    } while (!path.empty());
    all.states = seen.size();
    world::now = nullptr;
    return all;
}

}  // namespace interleave
