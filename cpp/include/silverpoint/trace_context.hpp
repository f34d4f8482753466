// Ids that join what several programs do for one request: the W3C Trace Context, in and out
// (https://www.w3.org/TR/trace-context/, docs/guide/context.md).
//
//   // A request comes in: a span of its own in the caller's trace, or a new trace.
//   const auto trace = silverpoint::TraceContext::accept(traceparent, tracestate);
//   const auto scope = trace.enter();         records have trace_id, span_id and parent_id
//   …
//   // One goes out: the receiver's parent is the span that is open here.
//   if (const auto now = silverpoint::TraceContext::current()) send(now->header(), now->state());
//
// The ids are fields of the thread's context like any other: what takes a context along (capture_context)
// takes them along.
#pragma once

#include <sys/random.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "context.hpp"
#include "silverpoint.hpp"

SP_DETAIL_BEGIN

// Random bytes, from the kernel; where it has none, what differs from call to call and process to process.
inline void fill_random(unsigned char* bytes, std::size_t size) {
    const ErrnoGuard guard;
    const auto got = getrandom(bytes, size, GRND_NONBLOCK);
    const std::size_t filled = got > 0 ? static_cast<std::size_t>(got) : 0;
    if (filled >= size) return;
    std::uint64_t state = new_id() ^ clock_ns(CLOCK_MONOTONIC) ^ std::uint64_t{thread_id()} << 40;
    for (std::size_t i = filled; i < size; ++i) {
        state += 0x9E3779B97F4A7C15u;  // a step of splitmix64
        bytes[i] = static_cast<unsigned char>((state ^ state >> 30) * 0xBF58476D1CE4E5B9u >> 56);
    }
}

inline int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
// Small hexadecimal digits; false when it is anything else.
template <std::size_t N>
bool read_hex(std::string_view text, std::array<unsigned char, N>& bytes) {
    if (text.size() != 2 * N) return false;
    for (std::size_t i = 0; i < N; ++i) {
        const int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i] = static_cast<unsigned char>(high << 4 | low);
    }
    return true;
}
template <std::size_t N>
std::string to_hex(const std::array<unsigned char, N>& bytes) {
    std::string text;
    for (const unsigned char byte : bytes) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

// Goes through the pairs of a context; every step is checked against their end.
class PairReader {
  public:
    PairReader(const char* at, std::size_t size) : at_(at), end_(at + size) {}

    // The next name, and its value when that is a text; false at the end.
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

SP_DETAIL_END

namespace silverpoint {
inline namespace v1 [[gnu::visibility("hidden")]] {

// A trace and a span in it. A value: it may be copied and kept.
class TraceContext {
  public:
    using TraceId = std::array<unsigned char, 16>;
    using SpanId = std::array<unsigned char, 8>;

    // A new trace with its first span, sampled. Costs a system call, as every new span does.
    static TraceContext fresh() {
        TraceContext trace;
        detail::fill_random(trace.trace_id_.data(), trace.trace_id_.size());
        if (trace.trace_id_ == TraceId{}) trace.trace_id_.back() = 1;  // zero is no id
        trace.span_id_ = new_span();
        trace.flags_ = kFlags;
        return trace;
    }

    // Reads a `traceparent`: the caller's span. Versions later than 00 are read as far as 00 goes. Nothing
    // when it is none, whatever the text is.
    static std::optional<TraceContext> parse(std::string_view traceparent) {
        constexpr std::size_t kSize = 55;
        TraceContext trace;
        std::array<unsigned char, 1> version{}, flags{};
        if (traceparent.size() < kSize || traceparent[2] != '-' || traceparent[35] != '-' ||
            traceparent[52] != '-' || !detail::read_hex(traceparent.substr(0, 2), version) ||
            !detail::read_hex(traceparent.substr(3, 32), trace.trace_id_) ||
            !detail::read_hex(traceparent.substr(36, 16), trace.span_id_) ||
            !detail::read_hex(traceparent.substr(53, 2), flags))
            return {};
        if (version[0] == 0xFF || trace.trace_id_ == TraceId{} || trace.span_id_ == SpanId{}) return {};
        if (traceparent.size() > kSize && (version[0] == 0 || traceparent[kSize] != '-')) return {};
        trace.flags_ = flags[0] & kFlags;
        return trace;
    }

    // For a request that comes in: a new span in the caller's trace when `traceparent` is one, else a new
    // trace. A `tracestate` is passed on as it is; one of more than 512 bytes, or that is not printable
    // ASCII, is dropped.
    static TraceContext accept(std::string_view traceparent, std::string_view tracestate = {}) {
        auto caller = parse(traceparent);
        if (!caller) return fresh();
        bool kept = tracestate.size() <= 512;
        for (const char c : tracestate) kept = kept && c >= ' ' && c <= '~';
        if (kept) caller->state_ = tracestate;
        return caller->child();
    }

    // A new span within this one.
    TraceContext child() const {
        TraceContext trace = *this;
        trace.parent_id_ = span_id_;
        trace.span_id_ = new_span();
        return trace;
    }

    // That of the innermost scope of this thread which has one: entered here, or taken along from another
    // thread.
    static std::optional<TraceContext> current() {
        const CapturedContext open = capture_context();
        detail::PairReader pairs(open.pairs_, open.size_);
        std::string_view name;
        std::optional<std::string_view> value;
        std::optional<TraceContext> found;
        while (pairs.next(name, value)) {
            const std::string_view text = value.value_or("");
            if (name == "trace_id") {
                // Whatever an outer trace has said is over.
                found.emplace(TraceContext());
                if (!detail::read_hex(text, found->trace_id_)) found.reset();
            } else if (!found) {
                continue;
            } else if (name == "span_id") {
                if (!detail::read_hex(text, found->span_id_)) found->span_id_ = {};
            } else if (name == "parent_id") {
                SpanId parent{};
                found->parent_id_.reset();
                if (detail::read_hex(text, parent)) found->parent_id_ = parent;
            } else if (name == "trace_flags") {
                std::array<unsigned char, 1> flags{};
                if (detail::read_hex(text, flags)) found->flags_ = flags[0] & kFlags;
            } else if (name == "tracestate") {
                found->state_ = text;
            }
        }
        if (found && found->span_id_ == SpanId{}) found.reset();
        return found;
    }

    // Attaches trace_id, span_id and parent_id to all records of this thread until what it gives ends;
    // trace_flags and tracestate where there are any.
    Context enter() const {
        const auto outer = current();
        detail::ContextFields fields;
        fields.add("trace_id", detail::to_hex(trace_id_));
        fields.add("span_id", detail::to_hex(span_id_));
        // What an outer trace has said must not show through.
        if (parent_id_) {
            fields.add("parent_id", detail::to_hex(*parent_id_));
        } else if (outer && outer->parent_id_) {
            fields.add("parent_id", std::optional<int>());
        }
        if (flags_ != 0 || (outer && outer->flags_ != 0))
            fields.add("trace_flags", detail::to_hex(std::array<unsigned char, 1>{flags_}));
        if (!state_.empty() || (outer && !outer->state_.empty())) fields.add("tracestate", state_);
        return Context(Context::Entered{fields.enter()});
    }

    // The `traceparent` of a request to somebody else: its parent is this span.
    std::string header() const {
        return "00-" + detail::to_hex(trace_id_) + "-" + detail::to_hex(span_id_) + "-" +
               detail::to_hex(std::array<unsigned char, 1>{flags_});
    }
    // The `tracestate` that goes with it; may be empty: then none is sent.
    const std::string& state() const { return state_; }

    // The first byte first.
    const TraceId& trace_id() const { return trace_id_; }
    const SpanId& span_id() const { return span_id_; }
    // The span that this one is within.
    const std::optional<SpanId>& parent_id() const { return parent_id_; }
    // Whether the caller says that it records the trace.
    bool is_sampled() const { return (flags_ & 1) != 0; }

    friend bool operator==(const TraceContext&, const TraceContext&) = default;

  private:
    // Those with a meaning: sampled, and random trace id.
    static constexpr unsigned char kFlags = 3;

    TraceContext() = default;
    static SpanId new_span() {
        SpanId id{};
        detail::fill_random(id.data(), id.size());
        if (id == SpanId{}) id.back() = 1;
        return id;
    }

    TraceId trace_id_{};
    SpanId span_id_{};
    std::optional<SpanId> parent_id_;
    unsigned char flags_ = 0;
    std::string state_;
};

}  // namespace gnu::visibility("hidden")
}  // namespace silverpoint
