// Sites: the static side of a tracepoint, and how it becomes an entry of the session (spec/wire.md
// sections 3.2, 3.3, 7 and 8).
//
//   unregistered ──(first execution)──▶ located: state byte in shared memory ──(first recording)──▶ complete:
//   id, template, names, signature
//
// A site is located before its arguments are evaluated, so that they are not when it is off, even the first
// time.
#pragma once

#include <string_view>

#include "directives.hpp"
#include "refill.hpp"
#include "utf8.hpp"

SP_DETAIL_BEGIN

// States that are not in shared memory.
using StateByte = std::atomic<std::uint8_t>;
inline constinit const StateByte kUnregistered{0x80};
inline constinit const StateByte kOff{0};

struct Site {
    // The state byte: 0 off, bit 0 record. Its address changes from kUnregistered to one in the session.
    std::atomic<const StateByte*> state{&kUnregistered};
    // The first word of the site's records: id << 32 | size, the latter 0 where it varies. 0 until the site
    // is complete.
    std::atomic<std::uint64_t> head{0};
    std::uint32_t line;
    Level level;
    // Of the wire: 1 C++, 3 C. What follows is for C: whether its template bounds texts (silverpoint_c.cpp).
    std::uint8_t language = 1;
    std::uint8_t bounded = 0;
    std::atomic<std::uint32_t> entry{0xFFFFFFFF};
    const char* file;
    std::atomic<const char*> function{nullptr};
    std::atomic<const char*> category{nullptr};

    constexpr Site(Level the_level, const char* the_file, std::uint32_t the_line)
        : line(the_line), level(the_level), file(the_file) {}

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

    // States other than off and on: unregistered, or with bits that are not ours.
    bool is_on_otherwise(std::uint8_t value, const char* the_function, const char* the_category) {
        return (value & 0x80) != 0 ? locate(the_function, the_category) : (value & 1) != 0;
    }
    bool locate(const char* the_function, const char* the_category);
    // The rest, at the first recording; false when there is no room for another site.
    // `size`: of every record, 0 when they vary.
    bool complete(Kind kind, std::string_view names, std::string_view text, std::string_view signature,
                  std::uint32_t size);

    std::uint32_t id() const {
        return static_cast<std::uint32_t>(head.load(std::memory_order_relaxed) >> 32);
    }
};

// A description as it is being put together. Long texts are cut: a function's name first. They are UTF-8: a
// reader refuses a site with others, and with it all its records; so a byte that is none (of a template in
// another encoding, or of a file's name) becomes a question mark.
class Description {
  public:
    Description(const Site& site, Kind kind, bool pending, std::string_view names, std::string_view text,
                std::string_view signature) {
        std::string_view category = site.category.load(std::memory_order_relaxed);
        std::string_view file = site.file;
        std::string_view function = site.function.load(std::memory_order_relaxed);
        const auto cut = [](std::string_view& piece, std::size_t most) {
            if (piece.size() <= most) return;
            // Not within a character.
            while (most > 0 && (static_cast<unsigned char>(piece[most]) & 0xC0) == 0x80) --most;
            piece = part(piece, 0, most);
        };
        cut(category, 255);
        cut(file, 1023);
        cut(function, 1023);
        cut(names, 2047);
        if (signature.size() > 4096) {
            size_ = 0;
            return;
        }
        cut(text, kMost - kDescFixed - category.size() - file.size() - function.size() - names.size() -
                      signature.size() - 8);
        const bool percent = kind == Kind::kPercent;
        const std::uint8_t levels[2] = {static_cast<std::uint8_t>(percent ? Kind::kLog : kind),
                                        static_cast<std::uint8_t>(site.level)};
        std::memcpy(bytes_ + 16, levels, 2);
        put16(18, (pending ? 1u : 0u) | (percent ? 2u : 0u));
        put32(20, site.line);
        put16(24, site.language);
        put16(28, category.size());
        put16(30, file.size());
        put16(32, function.size());
        put16(34, names.size());
        put32(36, text.size());
        put32(40, signature.size());
        size_ = kDescFixed;
        for (const auto piece : {category, file, function, names, text, signature}) {
            if (!piece.empty()) std::memcpy(bytes_ + size_, piece.data(), piece.size());
            char* at = bytes_ + size_;
            size_ += piece.size();
            for (;; *at++ = '?') {
                at += utf8_prefix({at, static_cast<std::size_t>(bytes_ + size_ - at)});
                if (at == bytes_ + size_) break;
            }
        }
        size_ = (size_ + 7) & ~std::size_t{7};
        put32(0, size_);
        hash_ = fnv1a(bytes_ + 16, size_ - 16);
        std::memcpy(bytes_ + 8, &hash_, 8);
    }
    const char* bytes() const { return bytes_; }
    std::size_t size() const { return size_; }
    std::uint64_t hash() const { return hash_; }

  private:
    static constexpr std::size_t kMost = 10 * 1024;
    void put16(std::size_t at, std::size_t value) {
        const auto word = static_cast<std::uint16_t>(value);
        std::memcpy(bytes_ + at, &word, 2);
    }
    void put32(std::size_t at, std::size_t value) {
        const auto word = static_cast<std::uint32_t>(value);
        std::memcpy(bytes_ + at, &word, 4);
    }
    std::size_t size_ = 0;
    std::uint64_t hash_ = 0;
    char bytes_[kMost] = {};
};

struct SiteEntry {
    Word stage;
    Word location_at;
    Word body_at;
    Word zero;
    Long hash;
    Long zero2;
};

inline SiteEntry& site_entry(std::uint32_t number) {
    return *reinterpret_cast<SiteEntry*>(session.control + session.sites_at +
                                         std::size_t{number} * kSiteEntry);
}

// Stores a description in the session; its place in units of 8 bytes, or ~0.
SP_DETAIL_COLD std::uint32_t store_description(const Description& description) {
    const auto units = static_cast<std::uint32_t>(description.size() / 8);
    const std::uint32_t at = session.word(at::kDescsNext).fetch_add(units, std::memory_order_relaxed);
    const std::size_t end = (std::size_t{at} + units) * 8;
    if (end > session.descs_size) return 0xFFFFFFFF;
    Long& reserved = session.longword(at::kDescsReserved);
    std::uint64_t known = reserved.load(std::memory_order_acquire);
    while (known < end) {
        std::uint64_t goal = (end + 65535) & ~std::uint64_t{65535};
        if (goal > session.descs_size) goal = session.descs_size;
        if (!back(session.control, session.descs_at + known, goal - known, "control")) return 0xFFFFFFFF;
        reserved.compare_exchange_strong(known, goal, std::memory_order_acq_rel);
        known = reserved.load(std::memory_order_acquire);
    }
    std::memcpy(session.control + session.descs_at + std::size_t{at} * 8, description.bytes(),
                description.size());
    return at;
}

SP_DETAIL_COLD bool equals_description(std::uint32_t at, const Description& description) {
    const std::size_t begin = std::size_t{at} * 8;
    return begin + description.size() <= session.descs_size &&
           std::memcmp(session.control + session.descs_at + begin, description.bytes(), description.size()) ==
               0;
}

// The entry with this location, made if there is none; ~0 when the table is full.
SP_DETAIL_COLD std::uint32_t register_site(const Description& description, bool complete) {
    const std::uint32_t mask = session.index_cap - 1;
    auto slot = static_cast<std::uint32_t>(description.hash()) & mask;
    const auto slot_word = [&](std::uint32_t at) -> Word& {
        return session.word(session.index_at + std::size_t{at} * 4);
    };
    if (!back(session.control, session.index_at + std::size_t{slot} * 4, 4, "control")) return 0xFFFFFFFF;
    for (std::uint32_t probes = 0; probes <= mask; ++probes, slot = (slot + 1) & mask) {
        if (slot % 1024 == 0 &&
            !back(session.control, session.index_at + std::size_t{slot} * 4, 4, "control"))
            return 0xFFFFFFFF;
        const std::uint32_t known = slot_word(slot).load(std::memory_order_acquire);
        if (known == 0) break;
        if (known > session.sites_cap) continue;
        const SiteEntry& entry = site_entry(known - 1);
        if (entry.stage.load(std::memory_order_acquire) >= kStageLocated &&
            entry.hash.load(std::memory_order_relaxed) == description.hash() &&
            equals_description(entry.location_at.load(std::memory_order_relaxed), description))
            return known - 1;
    }
    const std::uint32_t number = session.word(at::kSitesNext).fetch_add(1, std::memory_order_acq_rel);
    if (number >= session.sites_cap) return 0xFFFFFFFF;
    if (!back(session.control, session.sites_at + std::size_t{number} * kSiteEntry, kSiteEntry, "control") ||
        !back(session.control, session.states_at + number, 1, "control"))
        return 0xFFFFFFFF;
    SiteEntry& entry = site_entry(number);
    entry.stage.store(kStageWriting, std::memory_order_relaxed);
    const std::uint32_t place = store_description(description);
    if (place == 0xFFFFFFFF) return 0xFFFFFFFF;
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

// Evaluates the directives for a site and stores its state; again when they changed meanwhile.
SP_DETAIL_COLD void evaluate(const Site& site, std::uint32_t entry) {
    auto& state = *reinterpret_cast<StateByte*>(session.control + session.states_at + entry);
    const SiteFacts facts{site.level, site.category.load(std::memory_order_relaxed), site.file, site.line,
                          site.function.load(std::memory_order_relaxed)};
    Word& generation = session.word(at::kGeneration);
    for (int i = 0; i < 100; ++i) {
        const std::uint32_t before = generation.load(std::memory_order_seq_cst);
        std::uint32_t len = session.word(at::kDirectivesLen).load(std::memory_order_acquire);
        if (len > session.directives_cap) len = session.directives_cap;
        const bool on = decide({session.control + session.directives_at, len}, facts);
        state.store(static_cast<std::uint8_t>((state.load(std::memory_order_relaxed) & ~1) | (on ? 1 : 0)),
                    std::memory_order_seq_cst);
        if (generation.load(std::memory_order_seq_cst) == before) return;
    }
}

inline const StateByte* state_of(std::uint32_t entry) {
    return reinterpret_cast<const StateByte*>(session.control + session.states_at + entry);
}

SP_DETAIL_COLD bool Site::locate(const char* the_function, const char* the_category) {
    if (!session.is_ready() && !ensure_session()) {
        // While another thread makes the session the next execution tries again.
        if (session.state.load(std::memory_order_acquire) == Session::kOff)
            state.store(&kOff, std::memory_order_release);
        return false;
    }
    const ErrnoGuard guard;
    function.store(the_function, std::memory_order_relaxed);
    category.store(the_category, std::memory_order_relaxed);
    const Description description(*this, Kind::kLog, true, {}, {}, {});
    const std::uint32_t number = register_site(description, false);
    if (number == 0xFFFFFFFF) {
        count_session_loss(Cause::kNoSite);
        state.store(&kOff, std::memory_order_release);
        return false;
    }
    evaluate(*this, number);
    entry.store(number, std::memory_order_relaxed);
    state.store(state_of(number), std::memory_order_release);
    return (state_of(number)->load(std::memory_order_relaxed) & 1) != 0;
}

SP_DETAIL_COLD bool Site::complete(Kind kind, std::string_view names, std::string_view text,
                                   std::string_view signature, std::uint32_t size) {
    const ErrnoGuard guard;
    const std::uint32_t number = entry.load(std::memory_order_relaxed);
    if (number == 0xFFFFFFFF) return false;
    const Description body(*this, kind, false, names, text, signature);
    if (body.size() == 0) return false;
    const auto finish = [&](std::uint32_t at) {
        head.store(std::uint64_t{at + kFirstSite} << 32 | size, std::memory_order_release);
    };
    SiteEntry& known = site_entry(number);
    std::uint32_t none = 0;
    if (known.stage.load(std::memory_order_acquire) == kStageLocated &&
        known.body_at.load(std::memory_order_acquire) == 0) {
        const std::uint32_t place = store_description(body);
        if (place == 0xFFFFFFFF) return false;
        if (known.body_at.compare_exchange_strong(none, place, std::memory_order_acq_rel)) {
            known.stage.store(kStageComplete, std::memory_order_release);
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
    const std::uint32_t other = register_site(body, true);
    if (other == 0xFFFFFFFF) return false;
    evaluate(*this, other);
    entry.store(other, std::memory_order_relaxed);
    finish(other);
    state.store(state_of(other), std::memory_order_release);
    return true;
}

SP_DETAIL_END
