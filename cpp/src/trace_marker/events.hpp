// Events of sites as lines of the kernel's trace_marker, in the form of Android's ATrace, which Perfetto and
// systrace read:
//
//   message, event, instant   I|pid|LEVEL CATEGORY: text
//   span                      B|pid|NAME, argument=value   E|pid
//   async span                S|pid|NAME|id   F|pid|NAME|id
//   counter                   C|pid|NAME|value
#pragma once

#include <silverpoint/detail/arena.hpp>
#include <silverpoint/detail/atrace_message.hpp>

#include "../probes/registrar.hpp"
#include "../probes/scopes.hpp"
#include "marker.hpp"
#include "text.hpp"

namespace silverpoint::trace_marker {

// It is never freed.
struct SiteEvent {
    ProbeEvent shared{};
    // The directives want the site.
    int is_selected = 0;
    Kind kind = Kind::kLog;
    std::uint8_t level = 0;
    bool is_percent = false;
    std::string_view category, text, names, signature;
};

// Begins of this thread that were written. So ends are written for these alone, even if the site was switched
// on or off in between.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local unsigned begun = 0;

// Called where the program has closed the file.
inline void (*on_lost)() = nullptr;

inline void write_message(char letter, const std::string_view* parts, unsigned count,
                          const std::int64_t* number) {
    AtraceMessage message(letter, static_cast<std::uint32_t>(getpid()), parts, count, number);
    if (!write(is_file ? message.line() : message.text()) && on_lost != nullptr) on_lost();
}

// ProbeEvent::write.
inline void write_event(const ProbeEvent* shared, const ProbeRecord* record) {
    if (!is_asked(kTraceMarkerProbe)) return;
    const SystemGuard guard;
    const auto& event = *reinterpret_cast<const SiteEvent*>(shared);
    Input in(record->bytes, record->size);
    std::int64_t id = 0;
    const bool is_async = event.kind == Kind::kAsyncBegin || event.kind == Kind::kAsyncEnd;
    // (Cookies have a sign.)
    if (is_async) id = static_cast<std::int64_t>(Input(in).get<std::uint64_t>() & ~std::uint64_t{0} >> 1);
    Output line;
    std::size_t value_at = 0;  // of a counter
    Values values(event.signature, event.names, in);
    const auto put_name = [&] { line.add(event.text.empty() ? event.category : event.text); };
    switch (event.kind) {
        case Kind::kAsyncBegin:
        case Kind::kAsyncEnd:
            // Both have the same name.
            put_name();
            break;
        case Kind::kCounter:
            put_name();
            line.put('|');
            value_at = line.size();
            line.add(values.value(0));
            break;
        case Kind::kSpan:
            put_name();
            values.put_others(line, 0);
            break;
        default: {
            constexpr const char* kLevels[] = {"trace", "debug", "info", "warn", "error", "fatal"};
            line.add(kLevels[event.level < 6 ? event.level : 5]);
            if (!event.category.empty()) line.put(' ');
            line.add(event.category);
            line.add(": ");
            Output text;
            values.put_into(text, event.text, event.is_percent);
            line.add({text.bytes(), text.size()});
            const Input scopes(record->context, record->context_size);
            if (!scopes.is_at_end()) {
                line.put(' ');
                put_scopes(line, scopes);
            }
        }
    }
    const std::string_view all(line.bytes(), line.size());
    switch (event.kind) {
        case Kind::kSpan:
            ++begun;
            return write_message('B', &all, 1, nullptr);
        case Kind::kAsyncBegin:
            return write_message('S', &all, 1, &id);
        case Kind::kAsyncEnd:
            return write_message('F', &all, 1, &id);
        case Kind::kCounter: {
            // (In a text `|` becomes `/`: the value is a part of its own.)
            const std::string_view parts[] = {part(all, 0, value_at - 1), part(all, value_at)};
            return write_message('C', parts, 2, nullptr);
        }
        default:
            return write_message('I', &all, 1, nullptr);
    }
}
inline void write_end(const ProbeEvent*, const ProbeRecord*) {
    if (begun == 0) return;
    --begun;
    write_message('E', nullptr, 0, nullptr);
}

class TraceMarker {
  public:
    using Event = SiteEvent;
    static constexpr TracerName name{kTraceMarkerProbe, "trace_marker", "trace_marker", "silverpoint-tm"};

    int open() {
        on_lost = &KernelRegistrar<TraceMarker>::report_lost;
        return trace_marker::open();
    }
    bool is_lost() const { return trace_marker::is_lost(); }
    template <class Line>
    void explain(Line& line, int error) const {
        line.add(path, strnlen(path, 200)).add(": ");
        if (error == ENOENT)
            line.add("there is no such file (tracefs)");
        else if (error == EACCES || error == EPERM)
            line.add("this user may not write to it");
        else
            line.add("error ").number(static_cast<std::uint64_t>(error));
    }
    void select(SiteEvent& event, bool is_on) {
        __atomic_store_n(&event.is_selected, is_on, __ATOMIC_RELAXED);
    }
    // A span's end is wanted always: it is written if its begin was.
    SiteEvent* make(const Description& site, bool& is_final) {
        static constexpr int kAlways = 1;
        is_final = !site.is_question();
        if (site.is_question() || site.kind == Kind::kLink) return nullptr;
        void* const memory = keep_memory(sizeof(SiteEvent));
        if (memory == nullptr) return nullptr;
        auto* const event = ::new (memory) SiteEvent;
        event->shared = {ProbeEvent::kMagic, &event->is_selected, &write_event, nullptr, nullptr,
                         kTraceMarkerProbe};
        event->kind = site.kind;
        event->level = site.level;
        event->is_percent = (site.flags & kPercentFlag) != 0;
        if (!keep(site.category, event->category) || !keep(site.text, event->text) ||
            !keep(site.names, event->names) || !keep(site.signature, event->signature))
            return nullptr;
        is_final = false;
        if (site.kind != Kind::kSpan) return event;
        void* const end = keep_memory(sizeof(ProbeEvent));
        if (end == nullptr) return nullptr;
        event->shared.end = ::new (end)
            ProbeEvent{ProbeEvent::kMagic, &kAlways, &write_end, nullptr, nullptr, kTraceMarkerProbe};
        return event;
    }

  private:
    static constexpr std::uint16_t kPercentFlag = 2;

    static bool keep(std::string_view text, std::string_view& kept) {
        if (text.empty()) return true;
        auto* const memory = static_cast<char*>(keep_memory(text.size()));
        if (memory == nullptr) return false;
        std::memcpy(memory, text.data(), text.size());
        kept = {memory, text.size()};
        return true;
    }
};

}  // namespace silverpoint::trace_marker
