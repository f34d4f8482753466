// Trace contexts in C (silverpoint/trace_context.h), of the C++ frontend's ids.
#include <silverpoint/detail/trace_ids.hpp>

using namespace silverpoint::detail;

namespace {

// sp_trace_context of silverpoint/trace_context.h.
struct CTrace {
    unsigned char trace_id[16], span_id[8], parent_id[8];
    bool has_parent;
    unsigned char flags;
    char state[TraceIds::kStateMost + 1];

    TraceIds ids() const {
        TraceIds ids;
        std::memcpy(ids.trace_id.data(), trace_id, sizeof trace_id);
        std::memcpy(ids.span_id.data(), span_id, sizeof span_id);
        if (has_parent) std::memcpy(ids.parent_id.emplace().data(), parent_id, sizeof parent_id);
        ids.flags = flags & TraceIds::kFlags;
        return ids;
    }
    std::string_view state_text() const { return {state, strnlen(state, sizeof state)}; }
    void set(const TraceIds& ids) {
        std::memcpy(trace_id, ids.trace_id.data(), sizeof trace_id);
        std::memcpy(span_id, ids.span_id.data(), sizeof span_id);
        has_parent = ids.parent_id.has_value();
        if (has_parent) {
            std::memcpy(parent_id, ids.parent_id->data(), sizeof parent_id);
        } else {
            std::memset(parent_id, 0, sizeof parent_id);
        }
        flags = ids.flags;
    }
    void set_state(std::string_view text) {
        if (!TraceIds::is_passed_on(text)) text = {};
        std::memcpy(state, text.data(), text.size());
        state[text.size()] = 0;
    }
};
static_assert(sizeof(CTrace) == 547 && offsetof(CTrace, state) == 34);

struct CScope {
    std::uint64_t number;
};

std::string_view text_of(const char* text) {
    return text == nullptr ? std::string_view() : std::string_view(text);
}

// What is open in this thread, copied: a handler of signals may change it meanwhile.
struct Open {
    char pairs[kContextBytes];
    std::size_t size = 0;

    Open() {
        Thread* thread = thread_of_contexts();
        if (thread == nullptr) return;
        Contexts& contexts = thread->contexts;
        contexts.alone([&] {
            size = contexts.size();
            std::memcpy(pairs, contexts.pairs(), size);
        });
    }
    std::optional<TraceIds> trace(std::string_view& state) const {
        return TraceIds::in({pairs, size}, state);
    }
};

}  // namespace

extern "C" {

SP_DETAIL_OWN void sp_trace_fresh(CTrace* trace) {
    trace->set(TraceIds::fresh());
    trace->set_state({});
}

SP_DETAIL_OWN bool sp_trace_parse(CTrace* trace, const char* traceparent) {
    const auto ids = TraceIds::parse(text_of(traceparent));
    if (!ids) return false;
    trace->set(*ids);
    trace->set_state({});
    return true;
}

SP_DETAIL_OWN void sp_trace_accept(CTrace* trace, const char* traceparent, const char* tracestate) {
    const auto caller = TraceIds::parse(text_of(traceparent));
    if (!caller) return sp_trace_fresh(trace);
    trace->set(caller->child());
    trace->set_state(text_of(tracestate));
}

SP_DETAIL_OWN void sp_trace_child(CTrace* trace, const CTrace* parent) {
    const TraceIds ids = parent->ids().child();
    if (trace != parent) *trace = *parent;
    trace->set(ids);
}

SP_DETAIL_OWN bool sp_trace_current(CTrace* trace) {
    const Open open;
    std::string_view state;
    const auto ids = open.trace(state);
    if (!ids) return false;
    trace->set(*ids);
    trace->set_state(state);
    return true;
}

SP_DETAIL_OWN CScope sp_trace_enter(const CTrace* trace) {
    const Open open;
    std::string_view outer_state;
    const auto outer = open.trace(outer_state);
    ContextFields fields;
    trace->ids().add_to(fields, trace->state_text(), outer, outer_state);
    return {fields.enter()};
}

SP_DETAIL_OWN void sp_trace_header(const CTrace* trace, char* header) {
    trace->ids().put_header(header);
    header[TraceIds::kHeaderSize] = 0;
}
}
