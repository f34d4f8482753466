// The ids of the W3C Trace Context (https://www.w3.org/TR/trace-context/): read, made, and found among a
// thread's fields. For trace_context.hpp, and for C.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "../context.hpp"
#include "../silverpoint.hpp"

SP_DETAIL_BEGIN

// Random bytes, from the kernel; if it has none, data that differs from call to call and process to process.
inline void fill_random(unsigned char* bytes, std::size_t size) {
    const SystemGuard guard;
    const std::size_t filled = system_random(bytes, size, false);
    if (filled >= size) return;
    std::uint64_t state = new_id() ^ monotonic_now() ^ std::uint64_t{thread_id()} << 40;
    for (std::size_t i = filled; i < size; ++i) {
        state += 0x9E3779B97F4A7C15u;  // a step of splitmix64
        bytes[i] = static_cast<unsigned char>((state ^ state >> 30) * 0xBF58476D1CE4E5B9u >> 56);
    }
}

inline int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
// Lower-case hexadecimal digits; false if it is anything else.
template <std::size_t Length>
bool read_hex(std::string_view text, std::array<unsigned char, Length>& bytes) {
    if (text.size() != 2 * Length) return false;
    for (std::size_t i = 0; i < Length; ++i) {
        const int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i] = static_cast<unsigned char>(high << 4 | low);
    }
    return true;
}
// Bytes as lower-case hexadecimal digits.
template <std::size_t Length>
struct Hex {
    char text[2 * Length];
    explicit Hex(const std::array<unsigned char, Length>& bytes) {
        for (std::size_t i = 0; i < Length; ++i) {
            text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
            text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
        }
    }
    std::string_view view() const { return {text, 2 * Length}; }
};

// Goes through the pairs of a context; every step is checked against their end.
class PairReader {
  public:
    PairReader(const char* at, std::size_t size) : at_(at), end_(at + size) {}

    // The next name, and its value if that is a text; false at the end.
    bool next(std::string_view& name, std::optional<std::string_view>& value) {
        if (at_ == end_ || !text(name)) return false;
        const char* const begin = at_;
        std::string_view found;
        if (text(found)) {
            value = found;
            return true;
        }
        value.reset();
        at_ = begin;
        return skip(0);
    }

  private:
    bool head(unsigned& major, std::uint64_t& number, bool& open) {
        if (at_ == end_) return false;
        const auto first = static_cast<unsigned char>(*at_++);
        major = first >> 5;
        number = first & 31;
        open = number == 31;
        if (number < 24 || open) return true;
        if (number > 27) return false;
        const unsigned size = 1u << (number - 24);
        if (static_cast<std::size_t>(end_ - at_) < size) return false;
        number = 0;
        for (unsigned i = 0; i < size; ++i) number = number << 8 | static_cast<unsigned char>(*at_++);
        return true;
    }
    bool text(std::string_view& out) {
        unsigned major = 0;
        std::uint64_t size = 0;
        bool open = false;
        if (!head(major, size, open) || major != 3 || open || size > static_cast<std::size_t>(end_ - at_))
            return false;
        out = {at_, static_cast<std::size_t>(size)};
        at_ += size;
        return true;
    }
    bool skip(unsigned depth) {
        unsigned major = 0;
        std::uint64_t number = 0;
        bool open = false;
        if (depth > 40 || !head(major, number, open)) return false;
        if (major < 2 || major > 6) return !open;
        if (major < 4 && !open) {
            if (number > static_cast<std::size_t>(end_ - at_)) return false;
            at_ += number;
            return true;
        }
        if (major == 6) return !open && skip(depth + 1);
        if (major == 5 && !open && number > ~std::uint64_t{0} / 2) return false;
        std::uint64_t left = major == 5 ? 2 * number : number;
        while (open || left-- > 0) {
            if (open && at_ != end_ && *at_ == '\xFF') {
                ++at_;
                return true;
            }
            if (!skip(depth + 1)) return false;
        }
        return true;
    }
    const char* at_;
    const char* end_;
};

// A trace and a span in it, without its `tracestate`.
struct SP_DETAIL_VISIBLE TraceIds {
    using TraceId = std::array<unsigned char, 16>;
    using SpanId = std::array<unsigned char, 8>;
    // Flags with a meaning: sampled, and random trace id.
    static constexpr unsigned char kFlags = 3;
    // Of a `traceparent` in version 00.
    static constexpr std::size_t kHeaderSize = 55;
    // A longer one is not passed on.
    static constexpr std::size_t kStateMost = 512;

    TraceId trace_id{};
    SpanId span_id{};
    std::optional<SpanId> parent_id;
    unsigned char flags = 0;

    friend bool operator==(const TraceIds&, const TraceIds&) = default;

    static SpanId new_span() {
        SpanId id{};
        fill_random(id.data(), id.size());
        if (id == SpanId{}) id.back() = 1;  // zero is no id
        return id;
    }
    SP_DETAIL_OWN static TraceIds fresh() {
        TraceIds ids;
        fill_random(ids.trace_id.data(), ids.trace_id.size());
        if (ids.trace_id == TraceId{}) ids.trace_id.back() = 1;
        ids.span_id = new_span();
        ids.flags = kFlags;
        return ids;
    }
    SP_DETAIL_OWN static std::optional<TraceIds> parse(std::string_view traceparent) {
        TraceIds ids;
        std::array<unsigned char, 1> version{}, flags{};
        if (traceparent.size() < kHeaderSize || traceparent[2] != '-' || traceparent[35] != '-' ||
            traceparent[52] != '-' || !read_hex(traceparent.substr(0, 2), version) ||
            !read_hex(traceparent.substr(3, 32), ids.trace_id) ||
            !read_hex(traceparent.substr(36, 16), ids.span_id) || !read_hex(traceparent.substr(53, 2), flags))
            return {};
        if (version[0] == 0xFF || ids.trace_id == TraceId{} || ids.span_id == SpanId{}) return {};
        if (traceparent.size() > kHeaderSize && (version[0] == 0 || traceparent[kHeaderSize] != '-'))
            return {};
        ids.flags = flags[0] & kFlags;
        return ids;
    }
    SP_DETAIL_OWN static bool is_passed_on(std::string_view tracestate) {
        bool kept = tracestate.size() <= kStateMost;
        for (const char c : tracestate) kept = kept && c >= ' ' && c <= '~';
        return kept;
    }
    SP_DETAIL_OWN TraceIds child() const {
        TraceIds ids = *this;
        ids.parent_id = span_id;
        ids.span_id = new_span();
        return ids;
    }

    // Of the pairs of a context; `state` lies within them.
    SP_DETAIL_OWN static std::optional<TraceIds> in(PairReader pairs, std::string_view& state) {
        std::string_view name;
        std::optional<std::string_view> value;
        std::optional<TraceIds> found;
        while (pairs.next(name, value)) {
            const std::string_view text = value.value_or("");
            if (name == "trace_id") {
                // Every field of an outer trace ends.
                found.emplace();
                state = {};
                if (!read_hex(text, found->trace_id)) found.reset();
            } else if (!found) {
                continue;
            } else if (name == "span_id") {
                if (!read_hex(text, found->span_id)) found->span_id = {};
            } else if (name == "parent_id") {
                SpanId parent{};
                found->parent_id.reset();
                if (read_hex(text, parent)) found->parent_id = parent;
            } else if (name == "trace_flags") {
                std::array<unsigned char, 1> flags{};
                if (read_hex(text, flags)) found->flags = flags[0] & kFlags;
            } else if (name == "tracestate") {
                state = text;
            }
        }
        if (found && found->span_id == SpanId{}) found.reset();
        return found;
    }

    // `outer` is what the thread has now: none of it must remain visible.
    SP_DETAIL_OWN void add_to(ContextFields& fields, std::string_view state,
                              const std::optional<TraceIds>& outer, std::string_view outer_state) const {
        fields.add("trace_id", Hex(trace_id).view());
        fields.add("span_id", Hex(span_id).view());
        if (parent_id) {
            fields.add("parent_id", Hex(*parent_id).view());
        } else if (outer && outer->parent_id) {
            fields.add("parent_id", std::optional<int>());
        }
        if (flags != 0 || (outer && outer->flags != 0))
            fields.add("trace_flags", Hex(std::array<unsigned char, 1>{flags}).view());
        if (!state.empty() || (outer && !outer_state.empty())) fields.add("tracestate", state);
    }

    // The `traceparent`: kHeaderSize characters.
    SP_DETAIL_OWN void put_header(char* out) const {
        const auto put = [&](std::string_view text) {
            SP_DETAIL_MEMCPY(out, text.data(), text.size());
            out += text.size();
        };
        put("00-");
        put(Hex(trace_id).view());
        put("-");
        put(Hex(span_id).view());
        put("-");
        put(Hex(std::array<unsigned char, 1>{flags}).view());
    }
};

SP_DETAIL_END
