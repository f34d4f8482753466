// Reads this process's own rings, for tests (testing.hpp): decodes records by their sites, and switches all
// sites on for a while. Nothing here is on the path of a record.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "peek_value.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {
namespace testing {

// One record.
struct SP_DETAIL_VISIBLE Record {
    std::string name;  // of an event, span …; a log's or stream's template
    std::string kind, category, file, function;
    Level level = Level::kTrace;
    std::uint32_t line = 0, thread = 0;
    std::uint64_t ticks = 0;
    std::vector<std::pair<std::string, Value>> fields;

    // An argument by its name, or its number from 0; null when there is none.
    SP_DETAIL_OWN const Value* find(std::string_view field) const {
        for (std::size_t i = 0; i < fields.size(); ++i)
            if (fields[i].first == field || std::to_string(i) == field) return &fields[i].second;
        return nullptr;
    }
    // `event order.filled id=7 (i32) venue="XETR" (text)  orders.cpp:12`
    SP_DETAIL_OWN std::string text() const {
        std::string out = kind + " " + name;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const auto& [field, value] = fields[i];
            out += " " + (field.empty() ? std::to_string(i) : field) + "=" + value.shown() + " (" +
                   value.type + ")";
        }
        return out + "  " + file.substr(file.rfind('/') + 1) + ":" + std::to_string(line);
    }
};

}  // namespace testing
}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

SP_DETAIL_BEGIN

// A site's description as it lies in the session.
struct SiteTexts {
    std::uint8_t kind = 0, level = 0;
    std::uint32_t line = 0;
    std::string_view category, file, function, names, text, signature;
};

inline bool find_site(std::uint32_t entry, SiteTexts& found) {
    if (entry >= session.sites_cap || entry >= session.header().sites_next.load(std::memory_order_acquire))
        return false;
    const SiteEntry& site = session.site(entry);
    const std::uint32_t stage = site.stage.load(std::memory_order_acquire);
    if (stage < kStageLocated || stage > kStageComplete) return false;
    const std::size_t place =
        (stage == kStageComplete ? site.body_at : site.location_at).load(std::memory_order_acquire);
    const char* bytes = session.control + session.descs_at + place * 8;
    const auto word = [&]<class T>(std::size_t offset, T) {
        T value;
        std::memcpy(&value, bytes + offset, sizeof value);
        return std::size_t{value};
    };
    if (place * 8 + kDescFixed > session.descs_size) return false;
    const std::size_t size = word(0, std::uint32_t{});
    if (size < kDescFixed || size > kDescMax || place * 8 + size > session.descs_size) return false;
    found.kind = static_cast<std::uint8_t>(bytes[16]);
    found.level = static_cast<std::uint8_t>(bytes[17]);
    found.line = static_cast<std::uint32_t>(word(20, std::uint32_t{}));
    std::size_t from = kDescFixed;
    const auto text = [&](std::size_t len) {
        len = len < size - from ? len : size - from;
        const std::string_view piece(bytes + from, len);
        from += len;
        return piece;
    };
    found.category = text(word(28, std::uint16_t{}));
    found.file = text(word(30, std::uint16_t{}));
    found.function = text(word(32, std::uint16_t{}));
    found.names = text(word(34, std::uint16_t{}));
    found.text = text(word(36, std::uint32_t{}));
    found.signature = text(word(40, std::uint32_t{}));
    return true;
}

inline testing::Record record_of(const SiteTexts& site, std::string_view args) {
    constexpr const char* kKinds[] = {"log",       "stream",      "event",     "span",          "counter",
                                      "instant",   "async_begin", "async_end", "async_instant", "flow_begin",
                                      "flow_step", "flow_end",    "link"};
    testing::Record record;
    record.kind = site.kind < std::size(kKinds) ? kKinds[site.kind] : "unknown";
    record.name = site.text;
    record.category = site.category;
    record.file = site.file;
    record.function = site.function;
    record.level = static_cast<Level>(site.level < kLevels ? site.level : kLevels - 1);
    record.line = site.line;
    ValueReader reader(site.signature, args);
    std::string_view names = site.names;
    while (reader.has_more()) {
        const std::size_t end = names.find('\n');
        record.fields.emplace_back(names.substr(0, end), reader.next());
        names = end == std::string_view::npos ? std::string_view() : names.substr(end + 1);
    }
    return record;
}

// The positions of the rings at a moment: earlier bytes are not read.
struct Standing {
    std::uint32_t stream = 0;
    std::uint64_t position = 0;
};
using Standings = std::map<const char*, Standing>;

// A ring of this process as a reader sees it.
class PeekedRing {
  public:
    PeekedRing(char* at, std::uint32_t bytes) : at_(at), bytes_(bytes) {}
    const RingHeader& header() const { return *reinterpret_cast<const RingHeader*>(at_); }
    const char* at() const { return at_; }
    std::uint32_t stream() const { return header().stream.load(); }
    std::uint32_t thread() const { return header().owner_tid.load(); }
    std::uint64_t capacity() const { return bytes_ - kRingHeader; }
    std::uint64_t committed() const { return header().committed.load(); }
    bool is_live() const {
        const std::uint32_t state = ring_state(header().state.load());
        return header().magic.load() == kRingMagic && (state == kRingLive || state == kRingRetired) &&
               header().capacity.load() == capacity();
    }
    // The bytes from `begin`, which is moved to a record that was not overwritten meanwhile; `forgot` is then
    // set.
    std::string copy(std::uint64_t& begin, bool* forgot) const {
        std::uint64_t end = committed();
        const auto valid = [&] {
            return (std::max)({header().base.load(), header().oldest.load(), header().consumed.load()});
        };
        // What a collector has consumed is there until it is overwritten, by a quarter of the ring at most
        // beyond what is committed.
        const auto is_there = [&] {
            return begin >= header().oldest.load() &&
                   begin + capacity() >= committed() + (begin < valid() ? capacity() / 4 : 0);
        };
        std::string bytes;
        for (int i = 0; i < 10; ++i) {
            if (!is_there()) {
                begin = valid();
                if (forgot != nullptr) *forgot = true;
            }
            end = committed();
            bytes.resize(end > begin ? end - begin : 0);
            for (std::uint64_t at = begin; at < end; at += 8) {
                const std::uint64_t value =
                    reinterpret_cast<const Long*>(at_ + kRingHeader + at % capacity())->load();
                std::memcpy(bytes.data() + (at - begin), &value, 8);
            }
            full_fence();
            if (is_there()) return bytes;
        }
        return {};
    }

  private:
    char* at_;
    std::uint32_t bytes_;
};

template <class Visit>
void each_ring(Visit&& visit) {
    if (!session.is_ready()) return;
    const std::uint32_t slabs = slabs_in_use();
    for (std::uint32_t slab = 0; slab < slabs; ++slab) {
        const SlabEntry& entry = slab_entry(slab);
        const std::uint32_t shift = entry.shift.load(std::memory_order_acquire);
        if (shift < kShifts[0] || shift > 31 || (1u << shift) > session.slab_bytes) continue;
        const std::uint32_t count =
            (std::min)({entry.next.load(std::memory_order_acquire), session.slab_bytes >> shift,
                        entry.backed.load(std::memory_order_acquire) >> shift});
        for (std::uint32_t i = 0; i < count; ++i) {
            char* at = session.rings + std::size_t{slab} * session.slab_bytes + (std::size_t{i} << shift);
            const PeekedRing ring(at, 1u << shift);
            if (ring.is_live()) visit(ring);
        }
    }
}

inline Standings standings() {
    Standings all;
    each_ring([&](const PeekedRing& ring) { all[ring.at()] = {ring.stream(), ring.committed()}; });
    return all;
}

// Records of all rings (of thread `tid` alone, if that is not 0) since `from`, in order of time. `forgot` is
// set if some of them may have been overwritten.
inline std::vector<testing::Record> peek(const Standings& from, std::uint32_t tid, bool* forgot) {
    std::vector<testing::Record> all;
    each_ring([&](const PeekedRing& ring) {
        if (tid != 0 && ring.thread() != tid) return;
        const std::uint32_t stream = ring.stream();
        const auto known = from.find(ring.at());
        std::uint64_t begin = known != from.end() && known->second.stream == stream
                                  ? known->second.position
                                  : ring.header().base.load();
        const std::string bytes = ring.copy(begin, forgot);
        if (ring.stream() != stream) return;
        for (std::size_t at = 0; at + 8 <= bytes.size();) {
            std::uint32_t words[2];
            std::uint64_t ticks = 0;
            std::memcpy(words, bytes.data() + at, 8);
            const std::size_t size = words[0] & 0xFFFFFF;
            if (size < 8 || size % 8 != 0 || size > bytes.size() - at) break;
            SiteTexts site;
            if (size >= 16 && words[1] >= kFirstSite && find_site(words[1] - kFirstSite, site)) {
                std::memcpy(&ticks, bytes.data() + at + 8, 8);
                all.push_back(record_of(site, std::string_view(bytes).substr(at + 16, size - 16)));
                all.back().ticks = ticks;
                all.back().thread = ring.thread();
            }
            at += size;
        }
    });
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.ticks < b.ticks; });
    return all;
}

// While any of these lives every site is on; then the earlier directives apply again. Does nothing while a
// collector collects or is expected.
class AllOn {
  public:
    AllOn() {
        if (!session.is_ready() && !ensure_session()) return;
        const std::lock_guard guard(mutex());
        if (lives()++ != 0 || session.is_collected()) return;
        std::uint32_t len = session.header().directives_len.load(std::memory_order_acquire);
        if (len > session.directives_cap) len = session.directives_cap;
        before().assign(session.control + session.directives_at, len);
        changed() = true;
        apply("trace");
    }
    ~AllOn() {
        if (!session.is_ready()) return;
        const std::lock_guard guard(mutex());
        if (lives() == 0 || --lives() != 0 || !std::exchange(changed(), false)) return;
        apply(before());
    }
    AllOn(const AllOn&) = delete;
    AllOn& operator=(const AllOn&) = delete;

  private:
    // As a controller does (spec/wire.md, section 8).
    static void apply(std::string_view text) {
        Path path = session.path;
        path.add("/collector");
        const File file = open_file(path.c_str());
        if (file) await_controllers_lock(file);
        Word& generation = session.header().generation;
        const std::uint32_t odd = generation.load(std::memory_order_seq_cst) | 1;
        generation.store(odd, std::memory_order_seq_cst);
        __builtin_memcpy(session.control + session.directives_at, text.data(), text.size());
        session.header().directives_len.store(static_cast<std::uint32_t>(text.size()),
                                              std::memory_order_release);
        generation.store(odd + 1, std::memory_order_seq_cst);
        std::uint32_t count = session.header().sites_next.load(std::memory_order_acquire);
        if (count > session.sites_cap) count = session.sites_cap;
        for (std::uint32_t entry = 0; entry < count; ++entry) {
            SiteTexts site;
            if (!find_site(entry, site)) continue;
            const bool on = decide(
                text, {static_cast<Level>(site.level), site.category, site.file, site.line, site.function});
            auto& state =
                *reinterpret_cast<std::atomic<std::uint8_t>*>(session.control + session.states_at + entry);
            const std::uint8_t value = state.load(std::memory_order_relaxed);
            state.store(static_cast<std::uint8_t>((value & ~1) | (on ? 1 : 0)), std::memory_order_seq_cst);
        }
        wake_waiters(&generation);
        close_file(file);
        await_followers(odd + 1);
    }
    // Waits until facades of this process that remember directives (those of Rust) have asked again, for at
    // most a second.
    static void await_followers(std::uint32_t wanted) {
        constexpr std::uint32_t kStarts = 0xFFFFFFFF;
        constexpr std::uint64_t kLook = 10'000'000, kPatienceNs = 1'000'000'000;
        const std::uint64_t until = monotonic_now() + kPatienceNs;
        for (auto& [thread, followed] : session.header().followers) {
            for (;;) {
                const std::uint32_t tid = thread.load(std::memory_order_acquire);
                const std::uint32_t reached = followed.load(std::memory_order_acquire);
                if (tid == 0 || static_cast<std::int32_t>(reached - wanted) >= 0) break;
                if (tid == thread_id() || (tid != kStarts && is_thread_dead(tid))) break;
                if (monotonic_now() >= until) return;
                wait_for_change(&followed, reached, kLook);
            }
        }
    }
    static std::mutex& mutex() {
        static std::mutex one;
        return one;
    }
    static int& lives() {
        static int count = 0;
        return count;
    }
    static bool& changed() {
        static bool is = false;
        return is;
    }
    static std::string& before() {
        static std::string text;
        return text;
    }
};

SP_DETAIL_END
