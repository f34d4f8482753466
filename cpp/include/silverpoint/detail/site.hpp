// Sites: the static side of a tracepoint, and how it becomes an entry of the session (spec/wire.md
// sections 3.2, 3.3, 7 and 8).
//
//   unregistered ──(first execution)──▶ located: state byte in shared memory ──(first recording)──▶ complete:
//   id, template, names, signature
//
// A site is located before its arguments are evaluated, so that they are not when it is off, even the first
// time.
//
// Who makes which transition:
//
//   unregistered ─▶ located   any thread; of several at once, the one that swaps `entry` first
//   unregistered ─▶ off       any thread, if there is no session, or no room and the site is off
//   located ─▶ complete       any thread with a first record; of several, the one that swaps `body_at`
//   state byte                the thread that locates the site; later who changes directives, or asks for
//                             a tracer
//
// No site goes back. So the hot path needs no lock: off is two loads and a branch. On, the head of the record
// is one load more. Their bits:
//
//   state byte   [7] unregistered   [4:2] the tracer that does not want it   [1] a tracer   [0] the ring
//   head         [63:32] id of the site   [31:24] flags   [23:0] size, 0 where it varies
//                [63] set: a traced_head, and no head of a record
//
// A site takes 32 bytes of the session's table, 4 of its index, and one state byte. Location and description
// take 48 bytes each, and their texts. All this is paid once; a record has four bytes for its site.
#pragma once

#include <string_view>

#include "../c/wish.h"
#include "directives.hpp"
#include "refill.hpp"
#include "utf8.hpp"

SP_DETAIL_BEGIN

// States that are not in shared memory.
using StateByte = std::atomic<std::uint8_t>;
inline constinit const StateByte kUnregistered{0x80};
inline constinit const StateByte kOff{0};

// What a site has instead of a head while its first tracer wants its events, and no other is asked for. (A
// forked child may have the events of several in another order.) The highest byte is the complement of its
// state byte: so it is negative, as no other head is. The rest is the address of that tracer's event, which
// lies in the memory of the process for ever. So nothing has to be looked for in the session.
constexpr std::uint64_t traced_head(std::uint8_t state, std::uint64_t event) {
    return std::uint64_t{state ^ 0xFFu} << 56 | event;
}
// The state byte that a traced_head was made for; of another head one that no site has.
constexpr std::uint8_t traced_state(std::uint64_t head) {
    return static_cast<std::uint8_t>(head >> 56 ^ 0xFFu);
}
// Whether a head is none: the site is not complete, or a system tracer may want its records.
constexpr bool is_no_head(std::uint64_t head) { return static_cast<std::int64_t>(head) <= 0; }

struct Site {
    // The state byte: 0 off, bit 0 record, bit 1 a system tracer is asked for, then kQuietBits. Its address
    // changes from kUnregistered to one in the session.
    std::atomic<const StateByte*> state;
    // The first word of the site's records: id << 32 | size, the latter 0 where it varies. 0 until the site
    // is complete, and while a system tracer may want its records; or a traced_head.
    std::atomic<std::uint64_t> head{0};
    std::uint32_t line;
    Level level;
    // Of the wire: 1 C++, 3 C. What follows is for C: whether its template bounds texts, or is rewritten
    // (silverpoint_c.cpp).
    std::uint8_t language = 1;
    std::uint8_t bounded = 0;
    // Not 0: its tracepoint heeds system tracers, since is_wanted_otherwise has been called for it. Then 1,
    // or the state byte for which `quiet_of` holds.
    std::atomic<std::uint8_t> probed{0};
    std::atomic<std::uint32_t> entry{0xFFFFFFFF};
    const char* file;
    std::atomic<const char*> function{nullptr};
    std::atomic<const char*> category{nullptr};
    // The head, once the site is complete.
    std::atomic<std::uint64_t> whole{0};
    // The int that is not 0 while the tracer that alone is asked for wants the event (is_quiet). Of a span
    // its ProbeEvent.
    std::atomic<const void*> quiet_of{nullptr};

    constexpr Site(Level the_level, const char* the_file, std::uint32_t the_line,
                   const StateByte* the_state = &kUnregistered)
        : state(the_state), line(the_line), level(the_level), file(the_file) {}

    // The state byte: two loads.
    SP_DETAIL_HOT std::uint8_t state_byte() const {
        return state.load(std::memory_order_acquire)->load(std::memory_order_relaxed);
    }
    // Off: these and a branch. (SP_DETAIL_ON has its like.)
    SP_DETAIL_HOT bool is_on(const char* the_function, const char* the_category) {
        const std::uint8_t value = state_byte();
        if (value == 0) [[likely]]
            return false;
        if (value == 1) [[likely]]
            return true;
        return is_on_otherwise(value, the_function, the_category);
    }

    // The same, for tracepoints that system tracers may want, too (is_wanted_otherwise).
    SP_DETAIL_HOT bool is_wanted(const char* the_function, const char* the_category) {
        const std::uint8_t value = state_byte();
        if (value == 0) [[likely]]
            return false;
        if (value == 1) [[likely]]
            return true;
        return is_quiet(value) || is_wanted_otherwise(value, the_function, the_category);
    }
    // Whether the ring alone wants the record (wish.h). `kind`: the site's, if it is a span's.
    SP_DETAIL_HOT bool is_quiet(std::uint8_t value, Kind kind = Kind::kLog) const {
        return sp_c_is_site_quiet(reinterpret_cast<const unsigned char*>(&probed),
                                  reinterpret_cast<const void* const*>(&quiet_of), value,
                                  kind == Kind::kSpan);
    }

    // States other than off and on: unregistered, or with bits that are not ours.
    bool is_on_otherwise(std::uint8_t value, const char* the_function, const char* the_category) {
        if ((value & 0x80) != 0) return locate(the_function, the_category);
        return (value & 1) != 0;
    }
    bool is_wanted_otherwise(std::uint8_t value, const char* the_function, const char* the_category);
    bool is_known_wanted(std::uint8_t value) const;
    bool is_wanted_newly(std::uint8_t value, const char* the_function, const char* the_category);
    void begin_quiet(const ProbeEvent* event, std::uint32_t tracer);
    void end_quiet();
    // Of a located site: whether it records into the ring.
    bool records() const;
    // Whether a system tracer may want its records now.
    bool heeds_probes() const {
        return probed.load(std::memory_order_relaxed) != 0 && (state_byte() & kProbedBit) != 0;
    }
    // Whether this head, which was the site's just now, is the mark of a tracer that wants the event.
    SP_DETAIL_HOT bool is_traced(std::uint64_t known) const { return state_byte() == traced_state(known); }
    bool locate(const char* the_function, const char* the_category);
    // Its entry in the session, made if there is none; kNoMemory or kNoRoom.
    std::uint32_t enter(const char* the_function, const char* the_category);
    // The rest, at the first recording; false when there is no room for another site.
    // `size`: of every record, 0 when they vary.
    bool complete(Kind kind, std::string_view names, std::string_view text, std::string_view signature,
                  std::uint32_t size);

    std::uint32_t id() const {
        return static_cast<std::uint32_t>(whole.load(std::memory_order_relaxed) >> 32);
    }
};

// The longest signature (spec/wire.md, section 10).
inline constexpr std::size_t kSignatureMost = 16384;

// A description. Its bytes are made, piece by piece, each time they are needed, so that a signal handler's
// small stack need not hold them. Long texts are cut. Texts must be UTF-8: a reader refuses a site with
// others, and all its records. So an invalid byte (of a template in another encoding, or of a file's name)
// becomes a question mark. What it is made of must outlive it.
class Description {
  public:
    Description(const Site& site, Kind kind, bool pending, std::string_view names, std::string_view text,
                std::string_view signature)
        : texts_{site.category.load(std::memory_order_relaxed),
                 site.file,
                 site.function.load(std::memory_order_relaxed),
                 names,
                 text,
                 signature} {
        if (signature.size() > kSignatureMost) return;
        std::size_t rest = kMost - kDescFixed - signature.size();
        for (std::size_t i = 0; i < 5; ++i) {
            constexpr std::size_t most[] = {255, 1023, 1023, 2047, kMost};
            cut(texts_[i], most[i] < rest ? most[i] : rest);
            rest -= texts_[i].size();
        }
        const bool percent = kind == Kind::kPercent;
        const std::uint8_t levels[2] = {static_cast<std::uint8_t>(percent ? Kind::kLog : kind),
                                        static_cast<std::uint8_t>(site.level)};
        std::memcpy(head_ + 16, levels, 2);
        put16(18, (pending ? 1u : 0u) | (percent ? 2u : 0u));
        put32(20, site.line);
        put16(24, site.language);
        for (std::size_t i = 0; i < 4; ++i) put16(28 + 2 * i, texts_[i].size());
        put32(36, texts_[4].size());
        put32(40, texts_[5].size());
        std::size_t size = kDescFixed;
        for (const auto piece : texts_) size += piece.size();
        size_ = (size + 7) & ~std::size_t{7};
        put32(0, size_);
        hash_ = fnv1a(head_ + 16, kDescFixed - 16);
        each_text([this](const char* bytes, std::size_t len) { hash_ = fnv1a(bytes, len, hash_); });
        std::memcpy(head_ + 8, &hash_, 8);
    }
    // 0: the signature is longer than any may be.
    std::size_t size() const { return size_; }
    std::uint64_t hash() const { return hash_; }
    // Gives all bytes in order.
    template <class Give>
    void each(const Give& give) const {
        give(head_, kDescFixed);
        each_text(give);
    }

  private:
    static constexpr std::size_t kMost = 65536;
    static void cut(std::string_view& piece, std::size_t most) {
        if (piece.size() <= most) return;
        // Not within a character.
        while (most > 0 && (static_cast<unsigned char>(piece[most]) & 0xC0) == 0x80) --most;
        piece = part(piece, 0, most);
    }
    template <class Give>
    void each_text(const Give& give) const {
        std::size_t size = kDescFixed;
        for (std::string_view piece : texts_) {
            size += piece.size();
            for (; !piece.empty(); piece.remove_prefix(1)) {
                const std::size_t good = utf8_prefix(piece);
                if (good > 0) give(piece.data(), good);
                piece.remove_prefix(good);
                if (piece.empty()) break;
                give("?", 1);
            }
        }
        give("\0\0\0\0\0\0\0", size_ - size);
    }
    void put16(std::size_t at, std::size_t value) {
        const auto word = static_cast<std::uint16_t>(value);
        std::memcpy(head_ + at, &word, 2);
    }
    void put32(std::size_t at, std::size_t value) {
        const auto word = static_cast<std::uint32_t>(value);
        std::memcpy(head_ + at, &word, 4);
    }
    std::string_view texts_[6];
    std::size_t size_ = 0;
    std::uint64_t hash_ = 0;
    char head_[kDescFixed] = {};
};

// Instead of an entry, or a place: there is no memory now; or there is no room, and never will be.
inline constexpr std::uint32_t kNoMemory = 0xFFFFFFFE, kNoRoom = 0xFFFFFFFF;

// Makes sure that the descriptions are backed up to `end`. It backs more than needed, to ask less often;
// where little memory is left, only the pages that are needed.
SP_DETAIL_COLD bool back_descriptions(std::size_t end) {
    Long& reserved = session.header().descs_reserved;
    std::uint64_t known = reserved.load(std::memory_order_acquire);
    if (known >= end) return true;
    for (const std::uint64_t step : {65536u, 4096u}) {
        std::uint64_t goal = (end + step - 1) & ~(step - 1);
        if (goal > session.descs_size) goal = session.descs_size;
        if (!back(session.control, session.descs_at + known, goal - known, "control")) continue;
        while (known < goal && !reserved.compare_exchange_weak(known, goal, std::memory_order_acq_rel)) {
        }
        return true;
    }
    return false;
}

// Stores a description in the session; returns its place in units of 8 bytes, kNoMemory or kNoRoom.
// Everything before `descs_next` is backed: it passes over a place only by compare-and-swap from it, after
// its backing and never beyond the region. So a failed attempt takes nothing, however often it is repeated.
SP_DETAIL_COLD std::uint32_t store_description(const Description& description) {
    const auto units = static_cast<std::uint32_t>(description.size() / 8);
    Word& next = session.header().descs_next;
    std::uint32_t at = next.load(std::memory_order_acquire);
    do {
        const std::size_t end = (std::size_t{at} + units) * 8;
        if (end > session.descs_size) return kNoRoom;
        if (!back_descriptions(end)) return kNoMemory;
    } while (!next.compare_exchange_weak(at, at + units, std::memory_order_acq_rel));
    char* to = session.control + session.descs_at + std::size_t{at} * 8;
    description.each([&to](const char* bytes, std::size_t len) {
        std::memcpy(to, bytes, len);
        to += len;
    });
    return at;
}

SP_DETAIL_COLD bool equals_description(std::uint32_t at, const Description& description) {
    const std::size_t begin = std::size_t{at} * 8;
    if (begin + description.size() > session.header().descs_reserved.load(std::memory_order_acquire))
        return false;
    const char* from = session.control + session.descs_at + begin;
    bool same = true;
    description.each([&](const char* bytes, std::size_t len) {
        same = same && std::memcmp(from, bytes, len) == 0;
        from += len;
    });
    return same;
}

// The entry with this location, made if there is none; kNoMemory or kNoRoom.
SP_DETAIL_COLD std::uint32_t register_site(const Description& description, bool complete) {
    const std::uint32_t mask = session.index_cap - 1;
    auto slot = static_cast<std::uint32_t>(description.hash()) & mask;
    const auto slot_word = [&](std::uint32_t at) -> Word& {
        return *reinterpret_cast<Word*>(session.control + session.index_at + std::size_t{at} * 4);
    };
    if (!back(session.control, session.index_at + std::size_t{slot} * 4, 4, "control")) return kNoMemory;
    for (std::uint32_t probes = 0; probes <= mask; ++probes, slot = (slot + 1) & mask) {
        if (slot % 1024 == 0 &&
            !back(session.control, session.index_at + std::size_t{slot} * 4, 4, "control"))
            return kNoMemory;
        const std::uint32_t known = slot_word(slot).load(std::memory_order_acquire);
        if (known == 0) break;
        if (known > session.sites_cap) continue;
        const SiteEntry& entry = session.site(known - 1);
        if (entry.stage.load(std::memory_order_acquire) >= kStageLocated &&
            entry.hash.load(std::memory_order_relaxed) == description.hash() &&
            equals_description(entry.location_at.load(std::memory_order_relaxed), description))
            return known - 1;
    }
    // As with descriptions: entries below `sites_next` are backed, and an attempt that fails takes none. (A
    // description is lost where another takes the last entry, or the last that is backed, in between.)
    Word& next = session.header().sites_next;
    std::uint32_t number = next.load(std::memory_order_acquire);
    std::uint32_t place = kNoRoom;
    do {
        if (number >= session.sites_cap) return kNoRoom;
        if (!back(session.control, session.sites_at + std::size_t{number} * kSiteEntry, kSiteEntry,
                  "control") ||
            !back(session.control, session.states_at + number, 1, "control"))
            return kNoMemory;
        if (place == kNoRoom) place = store_description(description);
        if (place == kNoRoom || place == kNoMemory) return place;
    } while (!next.compare_exchange_weak(number, number + 1, std::memory_order_acq_rel));
    SiteEntry& entry = session.site(number);
    entry.stage.store(kStageWriting, std::memory_order_relaxed);
    entry.location_at.store(place, std::memory_order_relaxed);
    entry.body_at.store(complete ? place : 0, std::memory_order_relaxed);
    entry.hash.store(description.hash(), std::memory_order_relaxed);
    entry.stage.store(complete ? kStageComplete : kStageLocated, std::memory_order_seq_cst);
    for (std::uint32_t probes = 0; probes <= mask; ++probes, slot = (slot + 1) & mask) {
        if (slot % 1024 == 0 &&
            !back(session.control, session.index_at + std::size_t{slot} * 4, 4, "control"))
            break;
        std::uint32_t nobody = 0;
        if (slot_word(slot).compare_exchange_strong(nobody, number + 1, std::memory_order_acq_rel)) break;
    }
    return number;
}

// What the directives say about a site, now.
SP_DETAIL_COLD bool decide_now(const SiteFacts& facts) {
    std::uint32_t len = session.header().directives_len.load(std::memory_order_acquire);
    if (len > session.directives_cap) len = session.directives_cap;
    return decide({session.control + session.directives_at, len}, facts);
}
SP_DETAIL_COLD bool decide_now(const Site& site) {
    return decide_now({site.level, site.category.load(std::memory_order_relaxed), site.file, site.line,
                       site.function.load(std::memory_order_relaxed)});
}
// The same where no writer of directives visits a state byte later: not while they are being written.
SP_DETAIL_COLD bool decide_at_rest(const SiteFacts& facts) {
    Word& generation = session.header().generation;
    bool on = false;
    for (int i = 0; i < 100; ++i) {
        const std::uint32_t before = generation.load(std::memory_order_seq_cst);
        on = decide_now(facts);
        if (before % 2 == 0 && generation.load(std::memory_order_seq_cst) == before) break;
        pause_processor();
    }
    return on;
}

// Until when no memory is requested, since there was none: a site without an entry comes here at each of its
// executions.
inline constinit Long no_site_memory_until_ns{0};

SP_DETAIL_COLD bool is_site_memory_short() {
    const std::uint64_t until = no_site_memory_until_ns.load(std::memory_order_relaxed);
    return until != 0 && monotonic_now() < until;
}

// Takes note when there was no memory.
SP_DETAIL_COLD std::uint32_t note_shortage(std::uint32_t found) {
    if (found == kNoMemory)
        no_site_memory_until_ns.store(monotonic_now() + 1'000'000u, std::memory_order_relaxed);
    return found;
}

// Evaluates the directives for a site and stores its state; again if they changed meanwhile.
SP_DETAIL_COLD void evaluate(const Site& site, std::uint32_t entry) {
    auto& state = *reinterpret_cast<StateByte*>(session.control + session.states_at + entry);
    Word& generation = session.header().generation;
    for (int i = 0; i < 100; ++i) {
        const std::uint32_t before = generation.load(std::memory_order_seq_cst);
        const bool on = decide_now(site);
        const std::uint8_t probed = probes_wanted() != 0 ? kProbedBit : 0;
        state.store(static_cast<std::uint8_t>(probed | (on ? 1 : 0)), std::memory_order_seq_cst);
        if (generation.load(std::memory_order_seq_cst) == before) return;
    }
}

inline const StateByte* state_of(std::uint32_t entry) {
    return reinterpret_cast<const StateByte*>(session.control + session.states_at + entry);
}

inline bool Site::records() const {
    const std::uint32_t number = entry.load(std::memory_order_relaxed);
    return number < session.sites_cap && (state_of(number)->load(std::memory_order_relaxed) & 1) != 0;
}

// From now on the site is quiet (is_quiet), if one tracer alone is asked for and has its event. Of a span it
// must have that of the end, too.
SP_DETAIL_COLD void Site::begin_quiet(const ProbeEvent* event, std::uint32_t tracer) {
    const std::uint32_t number = entry.load(std::memory_order_relaxed);
    const std::uint32_t body = session.site(number).body_at.load(std::memory_order_acquire);
    const Kind kind{
        static_cast<std::uint8_t>(session.control[session.descs_at + std::size_t{body} * 8 + 16])};
    while (event != nullptr && event->tracer != tracer) event = event->following();
    if (event == nullptr || (tracer & (tracer - 1)) != 0) return;
    const bool is_span = kind == Kind::kSpan;
    if (is_span && SP_DETAIL_LOAD_ACQUIRE(&event->end) == nullptr) return;
    StateByte& byte = *const_cast<StateByte*>(state_of(number));
    const std::uint8_t quiet = quiet_state_for(tracer);
    std::uint8_t value = kProbedBit | 1;
    if (!byte.compare_exchange_strong(value, quiet, std::memory_order_seq_cst) && value != quiet)
        return end_quiet();
    // Who asks for another tracer clears the bits after that: here or there they are cleared.
    if (probes_wanted() != tracer) return end_quiet();
    quiet_of.store(is_span ? static_cast<const void*>(event) : event->state, std::memory_order_relaxed);
    probed.store(quiet, std::memory_order_seq_cst);
    // Another thread, which takes another way meanwhile, stores the head first.
    if (head.load(std::memory_order_seq_cst) != whole.load(std::memory_order_relaxed)) end_quiet();
}
// (Other copies of the site find out for themselves.)
SP_DETAIL_COLD void Site::end_quiet() {
    if (probed.load(std::memory_order_relaxed) > 1) probed.store(1, std::memory_order_release);
    StateByte& byte = *const_cast<StateByte*>(state_of(entry.load(std::memory_order_relaxed)));
    if ((byte.load(std::memory_order_relaxed) & kQuietBits) != 0)
        byte.fetch_and(static_cast<std::uint8_t>(~kQuietBits), std::memory_order_seq_cst);
}

// Also decides the way of the record. Without a head it takes the cold path of a first one, or that of a
// tracer that wants it (probe_record.hpp). Another thread may decide otherwise meanwhile, if a tracer or a
// directive has just changed: either is right.
SP_DETAIL_NOINLINE inline bool Site::is_wanted_newly(std::uint8_t value, const char* the_function,
                                                     const char* the_category) {
    bool is_on = (value & 1) != 0;
    if ((value & 0x80) != 0) [[unlikely]] {
        is_on = locate(the_function, the_category);
        value = state_byte();
    }
    const std::uint32_t number = entry.load(std::memory_order_relaxed);
    // In a forked child without a session: the parent goes on making events, in its own memory.
    if (number >= session.sites_cap || (value & kProbedBit) == 0 ||
        (!session.is_ready() && !ensure_session())) [[unlikely]] {
        if (static_cast<std::int64_t>(head.load(std::memory_order_relaxed)) < 0)
            head.store(0, std::memory_order_release);
        // (As with the bit below.)
        if ((value & (kProbedBit | kQuietBits)) > kProbedBit && number < session.sites_cap &&
            session.is_still_ready())
            end_quiet();
        return is_on;
    }
    // A controller that wrote other bits of the state in the same moment has left the bit.
    const std::uint32_t asked = probes_wanted();
    if (asked == 0) [[unlikely]] {
        stop_probing(session.header().probes_asked, *const_cast<StateByte*>(state_of(number)), 0);
        return is_on;
    }
    begin_probes();
    const std::uint64_t known = whole.load(std::memory_order_acquire);
    const ProbeEvent* const event = probe_event(number);
    // (Before it is complete, the entry may be that of another site of the same place.)
    const bool is_wanted =
        known == 0 ||
        (event != nullptr && (event->is_wanted_by_any(asked, false) || event->is_wanted_by_any(asked, true)));
    if (probed.load(std::memory_order_relaxed) == 0) probed.store(1, std::memory_order_release);
    if (is_on && !is_wanted) {
        if (head.load(std::memory_order_relaxed) != known) head.store(known, std::memory_order_release);
        begin_quiet(event, asked);
        return true;
    }
    // (A traced_head is made for a state byte without these bits.)
    value &= static_cast<std::uint8_t>(~kQuietBits);
    const bool is_first = known != 0 && event != nullptr && event->is_wanted() && event->tracer == asked;
    const std::uint64_t usual = is_first ? traced_head(value, reinterpret_cast<std::uintptr_t>(event)) : 0;
    if (head.load(std::memory_order_relaxed) != usual) head.store(usual, std::memory_order_seq_cst);
    end_quiet();
    return is_wanted;
}

// While the first tracer wants the events, and no other is asked for, this is all that is asked.
SP_DETAIL_HOT bool Site::is_known_wanted(std::uint8_t value) const {
    const std::uint64_t known = head.load(std::memory_order_acquire);
    return value == traced_state(known) && session.is_still_ready() &&
           is_probing_begun_for(traced_event(known)->tracer) && traced_event(known)->is_wanted();
}
SP_DETAIL_NOINLINE inline bool Site::is_wanted_otherwise(std::uint8_t value, const char* the_function,
                                                         const char* the_category) {
    return is_known_wanted(value) || is_wanted_newly(value, the_function, the_category);
}

SP_DETAIL_COLD std::uint32_t Site::enter(const char* the_function, const char* the_category) {
    function.store(the_function, std::memory_order_relaxed);
    category.store(the_category, std::memory_order_relaxed);
    if (is_site_memory_short()) return kNoMemory;
    std::uint32_t number =
        note_shortage(register_site(Description(*this, Kind::kLog, true, {}, {}, {}), false));
    if (number == kNoMemory || number == kNoRoom) return number;
    evaluate(*this, number);
    // Threads that come here at once have an entry each. The first one counts: the others are never complete.
    std::uint32_t known = kNoRoom;
    if (!entry.compare_exchange_strong(known, number, std::memory_order_acq_rel)) number = known;
    note_site_of_copy(number);
    // (Of an entry that was complete before: its tracer may have refused it, and sees the bit only now.)
    if (probes_wanted() != 0 && session.site(number).stage.load(std::memory_order_seq_cst) == kStageComplete)
        wake_probes();
    state.store(state_of(number), std::memory_order_release);
    return number;
}

SP_DETAIL_COLD bool Site::locate(const char* the_function, const char* the_category) {
    if (!session.is_ready() && !ensure_session()) {
        // While another thread makes the session the next execution tries again.
        if (session.state.load(std::memory_order_acquire) == Session::kOff)
            state.store(&kOff, std::memory_order_release);
        return false;
    }
    const SystemGuard guard;
    const std::uint32_t number = enter(the_function, the_category);
    if (number == kNoMemory || number == kNoRoom) {
        // Each record that would be made is lost, and counted. The next execution tries again. But if there
        // will never be room, a site that is off stays off, at the disabled cost.
        if (decide_now(*this)) {
            count_session_loss(Cause::kNoSite);
        } else if (number == kNoRoom) {
            state.store(&kOff, std::memory_order_release);
        }
        return false;
    }
    return (state_of(number)->load(std::memory_order_relaxed) & 1) != 0;
}

SP_DETAIL_COLD bool Site::complete(Kind kind, std::string_view names, std::string_view text,
                                   std::string_view signature, std::uint32_t size) {
    const SystemGuard guard;
    const std::uint32_t number = entry.load(std::memory_order_relaxed);
    if (number == 0xFFFFFFFF || is_site_memory_short()) return false;
    const Description body(*this, kind, false, names, text, signature);
    if (body.size() == 0) return false;
    const auto finish = [&](std::uint32_t at) {
        const std::uint64_t made = std::uint64_t{at + kFirstSite} << 32 | size;
        whole.store(made, std::memory_order_release);
        if (probed.load(std::memory_order_acquire) == 0) head.store(made, std::memory_order_release);
        note_site_of_copy(at);
        if (probes_wanted() != 0) wake_probes();
    };
    SiteEntry& known = session.site(number);
    std::uint32_t none = 0;
    if (known.stage.load(std::memory_order_acquire) == kStageLocated &&
        known.body_at.load(std::memory_order_acquire) == 0) {
        const std::uint32_t place = note_shortage(store_description(body));
        if (place == kNoMemory || place == kNoRoom) return false;
        if (known.body_at.compare_exchange_strong(none, place, std::memory_order_acq_rel)) {
            known.stage.store(kStageComplete, std::memory_order_seq_cst);
            finish(number);
            return true;
        }
    }
    for (int i = 0; i < 1000 && known.stage.load(std::memory_order_acquire) != kStageComplete; ++i)
        pause_processor();
    if (known.stage.load(std::memory_order_acquire) == kStageComplete &&
        equals_description(known.body_at.load(std::memory_order_acquire), body)) {
        finish(number);
        return true;
    }
    // The same place of the source with other types: an entry of its own.
    const std::uint32_t other = note_shortage(register_site(body, true));
    if (other == kNoMemory || other == kNoRoom) return false;
    evaluate(*this, other);
    entry.store(other, std::memory_order_relaxed);
    finish(other);
    state.store(state_of(other), std::memory_order_release);
    return true;
}

SP_DETAIL_END
