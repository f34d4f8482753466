// An event of LTTng for a site: what LTTng keeps of it, and how it is written.
#pragma once

#include <silverpoint/detail/probe_event.hpp>

#include "../probes/description.hpp"
#include "context.hpp"
#include "fields.hpp"
#include "payload.hpp"
#include "tracer.hpp"

namespace silverpoint::lttng {

// Everything that LTTng keeps pointers to, but the fields. It is never freed.
struct SiteEvent {
    ProbeEvent shared{};
    bool is_callsite = false;    // LTTng has its tracepoint: the word that says whether it is enabled
    bool is_registered = false;  // LTTng has the event
    SiteEvent* end = nullptr;
    const char* signature = "";
    bool is_direct = true;
    int level = 0;
    const int* level_at = &level;
    const char* uri = "";
    EventClass event_class;
    EventDesc desc;
    const EventDesc* descs[1] = {&desc};
    ProbeDesc probe;
    Tracepoint tracepoint;
    Tracepoint* tracepoints[1] = {&tracepoint};
};

// What reaches a probe of an event.
struct Given {
    const SiteEvent* event;
    const char* bytes;
    std::size_t size;
    void* caller;
};

// What filters see: eight bytes of each number; of a sequence its length and address.
inline void fill_stack(const Given& given, char* to) {
    Input in(reinterpret_cast<const unsigned char*>(given.bytes), given.size);
    std::uint64_t last = 0;
    const auto put = [&to](const auto& value) {
        static_assert(sizeof value == 8);
        std::memcpy(to, &value, 8);
        to += 8;
    };
    const EventClass& event_class = given.event->event_class;
    for (std::size_t i = 0; i < event_class.count; ++i) {
        const Field& field = *event_class.fields[i];
        const TypeCommon* type = field.type;
        if (type->type == Type::kEnum) type = reinterpret_cast<const TypeEnum*>(type)->container;
        if (type->type == Type::kInteger) {
            const auto& integer = *reinterpret_cast<const TypeInteger*>(type);
            const unsigned size = integer.bits / 8;
            last = integer.is_signed ? static_cast<std::uint64_t>(in.signed_number(size))
                                     : in.unsigned_number(size);
            if (!field.no_filter) put(last);
        } else if (type->type == Type::kFloat) {
            const bool is_wide = reinterpret_cast<const TypeFloat*>(type)->mantissa_bits == 53;
            put(is_wide ? in.get<double>() : static_cast<double>(in.get<float>()));
        } else {
            const bool is_array = type->type == Type::kArray;
            const TypeCommon* const element = is_array ? reinterpret_cast<const TypeArray*>(type)->element
                                                       : reinterpret_cast<const TypeSequence*>(type)->element;
            const std::uint64_t count = is_array ? reinterpret_cast<const TypeArray*>(type)->length : last;
            put(count);
            put(in.take(static_cast<std::size_t>(count) *
                        (reinterpret_cast<const TypeInteger*>(element)->bits / 8)));
        }
    }
}

template <class T>
T load(const T& value) {
    return __atomic_load_n(&value, __ATOMIC_RELAXED);
}

// Bytes for fill_stack.
inline std::size_t stack_size(const Given& given) { return 16 * (given.event->event_class.count + 1); }

// Functions of their own: so an event without a filter needs little of a signal handler's stack.
[[gnu::noinline]] inline bool passes(const Event* event, const Given& given, ProbeContext& probe) {
    auto* const stack = static_cast<char*>(__builtin_alloca(stack_size(given)));
    fill_stack(given, stack);
    return event->run_filter(event, stack, &probe, nullptr) == 0;
}
[[gnu::noinline]] inline void notify(const Event* event, const Given& given, ProbeContext& probe) {
    const auto* const notifier = static_cast<const Notifier*>(event->child);
    NotificationContext context;
    context.eval_capture = load(notifier->eval_capture);
    auto* const stack = static_cast<char*>(__builtin_alloca(stack_size(given)));
    if (context.eval_capture != 0) fill_stack(given, stack);
    notifier->send(notifier, stack, &probe, &context);
}

// LTTng calls it for each of its events that is enabled and has this tracepoint.
inline void write_one(const Event* event, const Given* given) {
    if (event->type == EventType::kRecorder) {
        const Channel& channel = *static_cast<const Recorder*>(event->child)->buffer->parent;
        if (load(channel.session->active) == 0 || load(channel.enabled) == 0) return;
    }
    if (load(event->enabled) == 0) return;
    ProbeContext probe;
    probe.caller = given->caller;
    if (load(event->eval_filter) != 0 && !passes(event, *given, probe)) return;
    if (event->type == EventType::kRecorder) {
        auto* const recorder = static_cast<Recorder*>(event->child);
        const BufferOps& ops = *recorder->buffer->ops;
        RingContext ring;
        ring.client = recorder;
        ring.size = given->size;
        ring.probe = &probe;
        if (ops.reserve(&ring) < 0) return;
        ops.write(&ring, given->bytes, given->size, 1);
        ops.commit(&ring);
    } else if (event->type == EventType::kNotifier) {
        notify(event, *given, probe);
    }
}

[[gnu::noinline]] inline void write_given(const Given& given) {
    tracer.lock();
    const auto* probe =
        static_cast<const TracepointProbe*>(tracer.dereference(given.event->tracepoint.probes));
    for (; probe != nullptr && probe->function != nullptr; ++probe)
        reinterpret_cast<void (*)(void*, const Given*)>(probe->function)(probe->data, &given);
    tracer.unlock();
}

[[gnu::noinline]] inline void write_converted(const SiteEvent& event, const unsigned char* bytes,
                                              std::size_t size, void* caller) {
    Output out;
    Input in(bytes, size);
    for (Signature of(event.signature); !of.is_at_end();) put_payload(out, of, in, true);
    if (out.is_whole()) write_given({&event, out.bytes(), out.size(), caller});
}

// Set while this thread is within LTTng. What LTTng calls may have tracepoints (malloc), and so may a signal
// handler: these write no event.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local bool is_writing = false;

struct Writing {
    Writing() { is_writing = true; }
    ~Writing() { is_writing = false; }
    Writing(const Writing&) = delete;
    Writing& operator=(const Writing&) = delete;
};

// ProbeEvent::write.
inline void write_event(const ProbeEvent* shared, const ProbeRecord* record) {
    if (is_writing || !is_asked(kLttngProbe)) return;
    const Writing writing;
    const OpenScopes scopes(*record);
    const auto& event = *reinterpret_cast<const SiteEvent*>(shared);
    if (event.is_direct && !record->is_cut)
        return write_given(
            {&event, reinterpret_cast<const char*>(record->bytes), record->size, record->caller});
    write_converted(event, record->bytes, record->size, record->caller);
}

// An event that LTTng does not have yet; null: there is no memory for it, or it has too many fields.
inline SiteEvent* make_event(const char* provider, const char* name, std::string_view signature,
                             std::string_view names, int level, const char* uri) {
    void* const memory = keep_memory(sizeof(SiteEvent));
    if (memory == nullptr) return nullptr;
    auto* const made = ::new (memory) SiteEvent;
    const FieldList list(signature, names, &made->probe);
    auto* const fields = static_cast<const Field**>(keep_memory((list.count() + 1) * sizeof(Field*)));
    if (list.is_broken() || fields == nullptr) return nullptr;
    std::memcpy(fields, list.fields(), list.count() * sizeof(Field*));
    made->signature = keep_text(signature);
    made->is_direct = list.is_direct();
    made->level = level;
    made->uri = uri;
    made->event_class.fields = fields;
    made->event_class.count = list.count();
    made->event_class.callback = reinterpret_cast<void (*)()>(&write_one);
    // LTTng compares it, when it brings tracepoints and events together.
    made->event_class.signature = made->signature;
    made->event_class.probe = &made->probe;
    made->desc.name = name;
    made->desc.probe = &made->probe;
    made->desc.event_class = &made->event_class;
    made->desc.level = &made->level_at;
    made->desc.uri = &made->uri;
    made->probe.provider = provider;
    made->probe.events = made->descs;
    made->probe.count = 1;
    made->tracepoint.provider = provider;
    made->tracepoint.event = name;
    made->tracepoint.signature = made->signature;
    made->shared = {ProbeEvent::kMagic, &made->tracepoint.state, &write_event, nullptr, nullptr};
    return made;
}

}  // namespace silverpoint::lttng
