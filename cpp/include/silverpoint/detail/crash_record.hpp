// The record of a crash (spec/crash.md). It is put together in a buffer of its own, and written into a ring
// that is reserved for it. So it does not matter what the failing thread was doing with its own ring.
#pragma once

#include "../platform/crash_stack.hpp"
#include "site.hpp"

SP_DETAIL_BEGIN

// What has happened.
struct Crash {
    const char* cause = "signal";  // signal, check, exception, terminate
    Text<1000> what;
    Text<255> where;
    int signal = 0, code = 0;
    const char *name = "", *code_name = "";  // of both
    bool has_address = false;
    std::uint64_t address = 0;
    std::uint32_t sender = 0;  // process that sent the signal, or 0

    void begin(const char* why) {
        cause = why;
        what.cut(0);
        where.cut(0);
        signal = code = 0;
        name = code_name = "";
        has_address = false;
        sender = 0;
    }
};

inline constexpr std::string_view kCrashNames =
    "what\ncause\nwhere\nsignal\nname\ncode\ncode_name\naddress\nsender\ntid\nthread\nstack\nmodules\n";
inline constexpr std::string_view kCrashSignature =
    "sssisis?p?IIs[p[<module|path:s,build_id:y,base:p,begin:p,end:p,>";
inline constexpr std::string_view kCrashTemplate = "{}";
// The lane of the ring that is reserved for it.
inline constexpr unsigned kCrashLane = 4;

inline constinit Site crash_site(Level::kFatal, "", 0);

// Registers the site; false if there is no session, or no room. Records are made in every state of the site.
SP_DETAIL_COLD bool register_crash_site() {
    if (crash_site.id() != 0) return true;
    crash_site.locate("", "silverpoint.crash");
    return crash_site.complete(Kind::kLog, kCrashNames, kCrashTemplate, kCrashSignature, 0);
}

template <std::size_t Length>
SP_DETAIL_COLD void add_hex(Text<Length>& text, std::uint64_t value) {
    char digits[18];
    unsigned at = sizeof digits;
    do digits[--at] = "0123456789abcdef"[value % 16];
    while ((value /= 16) != 0);
    text.add("0x").add(digits + at, sizeof digits - at);
}

// Puts values one after the other. What does not fit is left out, and marked as missing if the signature
// allows it.
class CrashBytes {
  public:
    CrashBytes(char* begin, std::size_t most) : begin_(begin), at_(begin), end_(begin + most) {}

    template <class T>
    void put(T value) {
        std::memcpy(at_, &value, sizeof value);
        at_ += sizeof value;
    }
    void text(const char* text, std::size_t size, std::size_t most) {
        if (size <= most) {
            put(static_cast<std::uint32_t>(size));
        } else {
            put(static_cast<std::uint32_t>(most) | kCut);
            put(static_cast<std::uint32_t>(size - most));
            size = most;
            is_cut = true;
        }
        std::memcpy(at_, text, size);
        at_ += size;
    }
    void text(const char* text) { this->text(text, std::strlen(text), 64); }
    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
    std::size_t size() const { return static_cast<std::size_t>(at_ - begin_); }
    char* position() const { return at_; }
    // Something was left out.
    bool is_cut = false;

  private:
    char *begin_, *at_, *end_;
};

// The arguments, in at most `most` bytes (at least 400); returns their size. `stream`: of the thread.
SP_DETAIL_COLD std::size_t put_crash(char* out, std::size_t most, const Crash& crash, const StackTrace& stack,
                                     const RingHeader& stream, bool& is_cut) {
    // The most that values of fixed or bounded size take, with the lengths of the others.
    constexpr std::size_t kFixed = 300;
    CrashBytes bytes(out, most);
    const std::size_t for_texts = (most - kFixed) / 2;
    bytes.text(crash.what.c_str(), crash.what.size(), for_texts * 3 / 4);
    bytes.text(crash.cause);
    bytes.text(crash.where.c_str(), crash.where.size(), for_texts / 4);
    bytes.put(std::int32_t{crash.signal});
    bytes.text(crash.name);
    bytes.put(std::int32_t{crash.code});
    bytes.text(crash.code_name);
    bytes.put(static_cast<std::uint8_t>(crash.has_address));
    if (crash.has_address) bytes.put(crash.address);
    bytes.put(static_cast<std::uint8_t>(crash.sender != 0));
    if (crash.sender != 0) bytes.put(crash.sender);
    bytes.put(thread_id());
    const std::uint64_t halves[2] = {stream.name[0].load(std::memory_order_relaxed),
                                     stream.name[1].load(std::memory_order_relaxed)};
    char name[16];
    std::memcpy(name, halves, sizeof name);
    bytes.text(name, strnlen(name, sizeof name), sizeof name);
    // Lengths of both lists, and one module with its path cut.
    constexpr std::size_t kRest = 12 + 4 + 100;
    const std::size_t fitting = bytes.left() > kRest ? (bytes.left() - kRest) / 8 : 0;
    const unsigned frames = stack.count < fitting ? stack.count : static_cast<unsigned>(fitting);
    const unsigned missing = stack.missing + stack.count - frames;
    if (missing == 0) {
        bytes.put(std::uint32_t{frames});
    } else {
        bytes.put(frames | kCut);
        bytes.put(std::uint32_t{missing});
        bytes.is_cut = true;
    }
    for (unsigned i = 0; i < frames; ++i) bytes.put(stack.frames[i]);
    char* const count_at = bytes.position();
    std::uint32_t modules = 0;
    bytes.put(modules);
    for (unsigned i = 0; i < stack.module_count; ++i) {
        const Module& module = stack.modules[i];
        const std::size_t length = std::strlen(module.path);
        constexpr std::size_t kPathMost = 512;
        const std::size_t path = length < kPathMost ? length : kPathMost;
        if (8 + path + 4 + module.build_id_size + 24 > bytes.left()) {
            bytes.is_cut = true;
            continue;
        }
        bytes.text(module.path, length, kPathMost);
        bytes.put(std::uint32_t{module.build_id_size});
        for (unsigned b = 0; b < module.build_id_size; ++b) bytes.put(module.build_id[b]);
        bytes.put(module.base);
        bytes.put(module.begin);
        bytes.put(module.end);
        ++modules;
    }
    std::memcpy(count_at, &modules, sizeof modules);
    is_cut = bytes.is_cut;
    return bytes.size();
}

// Sizes of a ring for one record of a crash: the usual one, and the least.
inline constexpr unsigned kCrashSizes[] = {1, 0};
inline constexpr std::size_t kCrashMost = 4096;

// A ring for a record: `size` is the index of its size.
struct CrashRing {
    Ring ring;
    unsigned size = 0;
};

// Claims one that is invisible until it is used.
SP_DETAIL_COLD CrashRing reserve_crash_ring() {
    for (const unsigned size : kCrashSizes) {
        if (shift_of(size) == 0) continue;
        Ring ring = take_new(shift_of(size), true);
        if (!ring) ring = claim_slice(shift_of(size));
        if (ring) return {ring, size};
    }
    return {};
}

// Begins a stream of the calling thread in the ring, and puts the record into it.
SP_DETAIL_COLD void write_crash(const CrashRing& kept, const Crash& crash, const StackTrace& stack,
                                char* buffer) {
    begin_stream(kept.ring, shift_of(kept.size), kCrashLane, thread_id(), 0);
    const std::uint64_t capacity = capacity_of(kept.size);
    std::size_t most = std::size_t{capacity / 4} & ~std::size_t{7};
    if (most > kCrashMost) most = kCrashMost;
    bool is_cut = false;
    const std::size_t used = 16 + put_crash(buffer + 16, most - 16, crash, stack, kept.ring.header(), is_cut);
    const std::size_t size = (used + 7) & ~std::size_t{7};
    std::memset(buffer + used, 0, size - used);
    const std::uint32_t head[2] = {static_cast<std::uint32_t>(size) | (is_cut ? kTruncated : 0),
                                   crash_site.id()};
    std::memcpy(buffer, head, 8);
    const std::uint64_t ticks = session.now();
    std::memcpy(buffer + 8, &ticks, 8);
    char* const data = kept.ring.base + kRingHeader;
    std::uint64_t position = kept.ring.header().base.load(std::memory_order_relaxed);
    const std::uint64_t rest = capacity - position % capacity;
    if (size > rest) {
        std::memcpy(data + position % capacity, &rest, 8);  // a pad
        position += rest;
    }
    std::memcpy(data + position % capacity, buffer, size);
    Steps::publish(kept.ring.committed(), position + size);
    ring_doorbell();
}

SP_DETAIL_END
