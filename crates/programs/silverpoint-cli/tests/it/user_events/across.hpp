// Spans that end in other threads than they began in, written by the library's own functions. Ends the
// program with a message at the first activity that is not the right one.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <probes/described.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace across {

using namespace silverpoint::probes;

// The activities of the event that this thread has written last.
struct Seen {
    bool is_there = false, has_id = false, has_parent = false;
    ActivityId id, parent;
};
inline thread_local Seen seen;

inline void check(bool is_so, const char* what, int line) {
    if (is_so) return;
    std::fprintf(stderr, "line %d: %s\n", line, what);
    std::abort();
}
#define CHECK(condition) check(condition, #condition, __LINE__)

inline bool same(const ActivityId& one, const ActivityId& other) {
    return std::memcmp(&one, &other, sizeof one) == 0;
}

// A description as it lies in a session.
inline std::string description(Kind kind, const std::string& name) {
    std::string bytes(kDescFixed, '\0');
    bytes[16] = static_cast<char>(kind);
    const auto size = static_cast<std::uint32_t>(name.size());
    std::memcpy(&bytes[36], &size, sizeof size);
    return bytes + name;
}

inline Seen write(const ProbeEvent* event, const ProbeRecord& record) {
    seen = {};
    event->write(event, &record);
    return seen;
}
inline Seen write(const ProbeEvent* event) { return write(event, {nullptr, 0, nullptr, 0, nullptr, false}); }
// As a frontend does.
inline Seen begin(const ProbeEvent* span, std::uint64_t began) {
    const Seen found = write(span);
    span->begun(span, began);
    CHECK(found.is_there && found.has_id);
    return found;
}
inline Seen end(const ProbeEvent* span, std::uint64_t began) {
    const std::uint64_t duration = 5;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(&duration);
    return write(span->end, ProbeSpanEnd{{bytes, sizeof duration, nullptr, 0, nullptr, false}, began});
}
template <class Run>
void in_thread(const Run& run) {
    std::thread(run).join();
}

inline std::atomic<std::uint64_t> ticks{0};
inline std::uint64_t now() { return ++ticks; }
inline bool ends(const ProbeEvent* span, std::uint64_t began, const Seen& of) {
    const Seen found = end(span, began);
    return found.is_there && found.has_id && same(found.id, of.id) && !found.has_parent;
}

inline void one_ends_elsewhere(const ProbeEvent* span, const ProbeEvent* event) {
    const Seen outer = begin(span, now()), inner = begin(span, now());
    const std::uint64_t began = ticks;
    CHECK(same(inner.parent, outer.id));
    CHECK(same(write(event).id, inner.id));
    in_thread([&] {
        // Spans of its own site, which stay its own.
        const Seen own = begin(span, now());
        const std::uint64_t own_began = ticks;
        CHECK(!own.has_parent);
        CHECK(ends(span, began, inner));
        CHECK(same(write(event).id, own.id));
        CHECK(!end(span, began).is_there);
        CHECK(ends(span, own_began, own));
        CHECK(!write(event).has_id);
    });
    // It is no parent any more.
    CHECK(same(write(event).id, outer.id));
    const Seen next = begin(span, now());
    CHECK(same(next.parent, outer.id));
    CHECK(ends(span, ticks, next));
    CHECK(ends(span, began - 1, outer));
    CHECK(!write(event).has_id && !span->end->is_wanted());
}

inline void its_thread_has_ended(const ProbeEvent* span, const ProbeEvent* event) {
    Seen found[12];
    const std::uint64_t first = ticks + 1;
    // More than a thread keeps.
    in_thread([&] {
        for (Seen& one : found) one = begin(span, now());
    });
    for (unsigned i = 0; i < 12; ++i) CHECK(ends(span, first + i, found[i]));
    CHECK(!write(event).has_id && !span->end->is_wanted());
}

inline void what_did_not_begin_has_no_end(const ProbeEvent* span, const ProbeEvent* event) {
    CHECK(!end(span, 0).is_there && !end(span, now()).is_there);
    const Seen one = begin(span, now());
    const std::uint64_t began = ticks;
    CHECK(!end(span, began + 1).is_there && !end(span, 0).is_there);
    in_thread([&] { CHECK(!end(span, began + 1).is_there); });
    CHECK(same(write(event).id, one.id));
    CHECK(ends(span, began, one) && !end(span, began).is_there);
    CHECK(!span->end->is_wanted());
    // `begun` without a begin.
    span->begun(span, now());
    CHECK(!end(span, ticks).is_there && !span->end->is_wanted());
}

// Of two that began in one moment, each thread's own end is its own's.
inline void the_same_moment(const ProbeEvent* span) {
    const std::uint64_t began = now();
    const Seen one = begin(span, began);
    in_thread([&] {
        const Seen other = begin(span, began);
        CHECK(ends(span, began, other));
    });
    CHECK(ends(span, began, one) && !span->end->is_wanted());
}

// More than there are places, in one thread, which ends all of them.
inline void more_than_there_is_room_for(const ProbeEvent* span) {
    constexpr unsigned kMany = 20'000;
    const std::uint64_t first = ticks + 1;
    for (unsigned i = 0; i < kMany; ++i) begin(span, now());
    for (unsigned i = kMany; i-- > 0;) CHECK(end(span, first + i).has_id);
    CHECK(!span->end->is_wanted());
}

// Ends that never come take nobody else's room for ever.
inline void forgotten_ones_give_way(const ProbeEvent* span, const ProbeEvent* other) {
    in_thread([&] {
        for (unsigned i = 0; i < 20'000; ++i) begin(other, now());
    });
    for (unsigned i = 0; i < 10'000; ++i) {
        const Seen one = begin(span, now());
        const std::uint64_t began = ticks;
        if (i % 100 != 0) {
            CHECK(ends(span, began, one));
        } else {
            in_thread([&] { CHECK(ends(span, began, one)); });
        }
    }
    CHECK(!span->end->is_wanted());
}

// Threads that hand their spans to each other.
inline void many_at_once(const ProbeEvent* span, const ProbeEvent* event) {
    constexpr unsigned kThreads = 4, kEach = 20'000, kHanded = 64;
    struct Handed {
        std::atomic<int> state{0};  // 0 free, 1 being filled, 2 filled, 3 being taken
        std::uint64_t began = 0;
        ActivityId id;
    };
    static Handed handed[kHanded];
    std::vector<std::thread> threads;
    std::vector<std::set<std::uint64_t>> numbers(kThreads);
    for (unsigned thread = 0; thread < kThreads; ++thread)
        threads.emplace_back([&, thread] {
            unsigned random = thread + 1, given = 0, taken = 0;
            while (given < kEach || taken < kEach) {
                random = random * 1664525 + 1013904223;
                Handed& place = handed[(random >> 16) % kHanded];
                int is = 0;
                if (given < kEach && place.state.compare_exchange_strong(is, 1)) {
                    ++given;
                    place.began = now();
                    place.id = begin(span, place.began).id;
                    CHECK(numbers[thread].insert(place.id.number).second);
                    place.state = 2;
                } else if (taken < kEach && (is = 2, place.state.compare_exchange_strong(is, 3))) {
                    ++taken;
                    CHECK(same(end(span, place.began).id, place.id));
                    place.state = 0;
                }
            }
            CHECK(given == taken);
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(!span->end->is_wanted());
    CHECK(!write(event).has_id);
}

// `make` gives the event of a description.
template <class Make>
int run(const Make& make) {
    static const std::string texts[] = {description(Kind::kSpan, "sell"), description(Kind::kSpan, "other"),
                                        description(Kind::kEvent, "sold")};
    const ProbeEvent *const span = make(Description(texts[0].data())),
                            *const other = make(Description(texts[1].data())),
                            *const event = make(Description(texts[2].data()));
    CHECK(span != nullptr && other != nullptr && event != nullptr && event->begun == nullptr);
    one_ends_elsewhere(span, event);
    its_thread_has_ended(span, event);
    what_did_not_begin_has_no_end(span, event);
    the_same_moment(span);
    more_than_there_is_room_for(span);
    many_at_once(span, event);
    forgotten_ones_give_way(span, other);
    std::puts("done");
    return 0;
}

}  // namespace across
