// An event of LTTng for a site: what LTTng keeps of it, and how it is written.
#pragma once

#include <silverpoint/detail/probe_event.hpp>

#include "../probes/description.hpp"
#include "context.hpp"
#include "fields.hpp"
#include "payload.hpp"
#include "reading.hpp"

namespace silverpoint::lttng {

// Everything that LTTng keeps pointers to, but the fields. It is never freed.
struct SiteEvent {
    ProbeEvent shared{};
    bool is_callsite = false;    // LTTng has its tracepoint: the word that says whether it is enabled
    bool is_registered = false;  // LTTng has the event
    SiteEvent* end = nullptr;
    const char* signature = "";
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

// What filters see: eight bytes of each number; of a sequence its length and address.
inline void fill_stack(const SiteEvent& of, const ProbeRecord& record, char* to) {
    Input in(record.bytes, record.size);
    std::uint64_t last = 0;
    const auto put = [&to](const auto& value) {
        static_assert(sizeof value == 8);
        std::memcpy(to, &value, 8);
        to += 8;
    };
    const EventClass& event_class = of.event_class;
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
inline std::size_t stack_size(const SiteEvent& of) { return 16 * (of.event_class.count + 1); }

// Functions of their own: so an event without a filter needs little of a signal handler's stack.
[[gnu::noinline, gnu::cold]] inline bool passes(const Event* event, const SiteEvent& of,
                                                const ProbeRecord& record, ProbeContext& probe) {
    auto* const stack = static_cast<char*>(__builtin_alloca(stack_size(of)));
    fill_stack(of, record, stack);
    const bool passes = event->run_filter(event, stack, &probe, nullptr) == 0;
    Within::release();
    return passes;
}
[[gnu::noinline, gnu::cold]] inline void notify(const Event* event, const SiteEvent& of,
                                                const ProbeRecord& record) {
    if (event->type != EventType::kNotifier || load(event->enabled) == 0) return;
    ProbeContext probe;
    probe.caller = record.caller;
    if (load(event->eval_filter) != 0 && !passes(event, of, record, probe)) return;
    const auto* const notifier = static_cast<const Notifier*>(event->child);
    NotificationContext context;
    context.eval_capture = load(notifier->eval_capture);
    auto* const stack = static_cast<char*>(__builtin_alloca(stack_size(of)));
    if (context.eval_capture != 0) fill_stack(of, record, stack);
    notifier->send(notifier, stack, &probe, &context);
    Within::release();
}

// For one of LTTng's events that has this tracepoint.
SP_DETAIL_HOT void write_one(const Event* event, const SiteEvent& of, const ProbeRecord& record) {
    if (event->type != EventType::kRecorder) [[unlikely]]
        return notify(event, of, record);
    auto* const recorder = static_cast<Recorder*>(event->child);
    const Buffer& buffer = *recorder->buffer;
    if (load(buffer.parent->session->active) == 0 || load(buffer.parent->enabled) == 0 ||
        load(event->enabled) == 0)
        return;
    ProbeContext probe;
    probe.caller = record.caller;
    if (load(event->eval_filter) != 0) [[unlikely]]
        if (!passes(event, of, record, probe)) return;
    RingContext ring;
    ring.client = recorder;
    ring.size = record.size;
    ring.probe = &probe;
    if (buffer.ops->reserve(&ring) < 0) [[unlikely]]
        return;
    // All fields at once: LTTng has them packed.
    if (record.size != 0) buffer.ops->write(&ring, record.bytes, record.size, 1);
    buffer.ops->commit(&ring);
}

// What LTTng registers. It hands the function back with each of its events that is enabled; nobody calls it.
inline void be_probe() {}

// Within LTTng's read lock.
SP_DETAIL_HOT void write_all(const SiteEvent& event, const ProbeRecord& record) {
    const TracepointProbe* probe = __atomic_load_n(&event.tracepoint.probes, __ATOMIC_ACQUIRE);
    if (probe == nullptr) [[unlikely]]
        return;
    // (Another provider may have a probe of the same name.)
    for (; probe->function != nullptr; ++probe)
        if (probe->function == event.event_class.callback) [[likely]]
            write_one(static_cast<const Event*>(probe->data), event, record);
}

// Where LTTng has no counter for this thread that we know of, or has to make it.
[[gnu::noinline, gnu::cold]] inline void write_by_functions(const SiteEvent& event,
                                                            const ProbeRecord& record) {
    tracer.lock();
    write_all(event, record);
    tracer.unlock();
}
// The record's arguments are the event's fields, byte for byte.
SP_DETAIL_HOT void write_fields(const SiteEvent& event, const ProbeRecord& record, ReaderCount** reader) {
    if (*reader == nullptr) [[unlikely]]
        return write_by_functions(event, record);
    const Reading reading(reader);
    write_all(event, record);
}

[[gnu::noinline]] inline void write_converted(const SiteEvent& event, const ProbeRecord& record,
                                              ReaderCount** reader) {
    Output out;
    Input in(record.bytes, record.size);
    for (Signature of(event.signature); !of.is_at_end();) put_payload(out, of, in, true);
    if (!out.is_whole()) return;
    ProbeRecord converted = record;
    converted.bytes = reinterpret_cast<const unsigned char*>(out.bytes());
    converted.size = out.size();
    write_fields(event, converted, reader);
}

// ProbeEvent::write, of an event whose fields are the arguments, byte for byte, or are not.
template <bool kIsDirect>
void write_event(const ProbeEvent* shared, const ProbeRecord* record) {
    if (!is_asked(kLttngProbe)) [[unlikely]]
        return;
    // What LTTng calls may have tracepoints (malloc), and so may a signal handler: these write no event.
    ReaderCount** reader = in_thread.reader;
    if (reader == nullptr) [[unlikely]]
        if ((reader = in_thread.prepare()) == nullptr) return;
    const Within within(*record, reader);
    const auto& event = *reinterpret_cast<const SiteEvent*>(shared);
    if (!kIsDirect || record->is_cut) [[unlikely]]
        return write_converted(event, *record, reader);
    write_fields(event, *record, reader);
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
    made->level = level;
    made->uri = uri;
    made->event_class.fields = fields;
    made->event_class.count = list.count();
    made->event_class.callback = &be_probe;
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
    made->shared = {ProbeEvent::kMagic,
                    &made->tracepoint.state,
                    list.is_direct() ? &write_event<true> : &write_event<false>,
                    nullptr,
                    nullptr,
                    kLttngProbe};
    return made;
}

}  // namespace silverpoint::lttng
