// Ids that connect what several programs do for one request: the W3C Trace Context, in and out
// (https://www.w3.org/TR/trace-context/, docs/guide/context.md).
//
//     // A request comes in: a span of its own in the caller's trace, or a new trace.
//     const auto trace = silverpoint::TraceContext::accept(traceparent, tracestate);
//     const auto scope = trace.enter();         records have trace_id, span_id and parent_id
//     …
//     // One goes out: the receiver's parent is the span that is open here.
//     if (const auto now = silverpoint::TraceContext::current()) send(now->header(), now->state());
//
// The ids are fields of the thread's context like any other: capture_context captures them too.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "detail/trace_ids.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// A trace and a span in it. A value: it may be copied and kept.
// Thread-safe: any thread may read it. Cost: a new span is a system call, enter() a scope of context.
class SP_DETAIL_VISIBLE TraceContext {
  public:
    using TraceId = detail::TraceIds::TraceId;
    using SpanId = detail::TraceIds::SpanId;

    // A new trace with its first span, sampled. Costs a system call, as every new span does.
    SP_DETAIL_OWN static TraceContext fresh() { return TraceContext(detail::TraceIds::fresh()); }

    // Reads a `traceparent`: the caller's span. Versions later than 00 are read as far as 00 goes. Nothing if
    // it is invalid.
    SP_DETAIL_OWN static std::optional<TraceContext> parse(std::string_view traceparent) {
        const auto ids = detail::TraceIds::parse(traceparent);
        if (!ids) return {};
        return TraceContext(*ids);
    }

    // For a request that comes in: a new span in the caller's trace if `traceparent` is valid, else a new
    // trace. A `tracestate` is passed on as it is; one of more than 512 bytes, or that is not printable
    // ASCII, is dropped.
    SP_DETAIL_OWN static TraceContext accept(std::string_view traceparent, std::string_view tracestate = {}) {
        auto caller = parse(traceparent);
        if (!caller) return fresh();
        if (detail::TraceIds::is_passed_on(tracestate)) caller->state_ = tracestate;
        return caller->child();
    }

    // A new span within this one.
    SP_DETAIL_OWN TraceContext child() const { return TraceContext(ids_.child(), state_); }

    // The context of the innermost scope of this thread which has one: entered here, or captured in another
    // thread.
    SP_DETAIL_OWN static std::optional<TraceContext> current() {
        const CapturedContext open = capture_context();
        std::string_view state;
        const auto ids = detail::TraceIds::in({open.pairs_, open.size_}, state);
        if (!ids) return {};
        return TraceContext(*ids, std::string(state));
    }

    // Attaches trace_id, span_id and parent_id to all records of this thread until the returned object ends.
    // So it does with trace_flags and tracestate if there are any.
    SP_DETAIL_OWN Context enter() const {
        const CapturedContext open = capture_context();
        std::string_view outer_state;
        const auto outer = detail::TraceIds::in({open.pairs_, open.size_}, outer_state);
        detail::ContextFields fields;
        ids_.add_to(fields, state_, outer, outer_state);
        return Context(Context::Entered{fields.enter()});
    }

    // The `traceparent` of a request to another program: its parent is this span.
    SP_DETAIL_OWN std::string header() const {
        std::string text(detail::TraceIds::kHeaderSize, ' ');
        ids_.put_header(text.data());
        return text;
    }
    // The `tracestate` that goes with it; may be empty: then none is sent.
    SP_DETAIL_OWN const std::string& state() const { return state_; }

    // The first byte first.
    SP_DETAIL_OWN const TraceId& trace_id() const { return ids_.trace_id; }
    SP_DETAIL_OWN const SpanId& span_id() const { return ids_.span_id; }
    // The span that this one is within.
    SP_DETAIL_OWN const std::optional<SpanId>& parent_id() const { return ids_.parent_id; }
    // Whether the caller says that it records the trace.
    SP_DETAIL_OWN bool is_sampled() const { return (ids_.flags & 1) != 0; }

    friend bool operator==(const TraceContext&, const TraceContext&) = default;

  private:
    SP_DETAIL_OWN explicit TraceContext(const detail::TraceIds& ids, std::string state = {})
        : ids_(ids), state_(std::move(state)) {}

    detail::TraceIds ids_;
    std::string state_;
};

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint
