// Fields of open scopes (SP_CONTEXT, context!) as LTTng's application contexts: `$app.silverpoint:NAME` is
// the field of this name, `$app.silverpoint:context` all of them as JSON. LTTng asks for them while it writes
// an event, if a session has them.
#pragma once

#include "../probes/scopes.hpp"
#include "reading.hpp"

namespace silverpoint::lttng {

using namespace probes;

// While it exists, this thread is within LTTng, which may change errno.
class Within {
  public:
    // `reader`: in_thread.reader, not null.
    SP_DETAIL_HOT Within(const ProbeRecord& record, ReaderCount** reader) : reader_(reader) {
        in_thread.reader = nullptr;
        in_thread.record = &record;
        error_ = *in_thread.error;
    }
    SP_DETAIL_HOT ~Within() {
        *in_thread.error = error_;
        in_thread.reader = reader_;
    }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;

    // What the event that this thread writes has of scopes.
    static Input scopes() {
        const ProbeRecord* const record = in_thread.record;
        if (!in_thread.is_within() || record == nullptr) return Input(nullptr, 0);
        return Input(record->context, record->context_size);
    }
    // Memory until `release`; null: there is none.
    static char* keep(std::size_t size) {
        if (in_thread.page == nullptr) {
            void* const made =
                mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (made == MAP_FAILED) return nullptr;
            in_thread.used = 0;
            in_thread.page = static_cast<char*>(made);
        }
        if (size > kPage - in_thread.used) return nullptr;
        in_thread.used += size;
        return in_thread.page + in_thread.used - size;
    }

    // After what a filter asked for is used.
    static void release() {
        if (in_thread.page == nullptr) return;
        munmap(in_thread.page, kPage);
        in_thread.page = nullptr;
    }

  private:
    static constexpr std::size_t kPage = 65536;
    ReaderCount** const reader_;
    int error_;
};

// A field's value; LTTng has no truth values, and no nested ones.
struct ScopeValue {
    DynamicType type = DynamicType::kNone;
    std::int64_t integer = 0;
    double real = 0;
    std::string_view text;  // of CBOR, or of `json`
    Output json;

    // `name`: with the provider before it, or without.
    explicit ScopeValue(std::string_view name) {
        if (Within::scopes().is_at_end()) return;
        if (const auto colon = name.find(':'); colon != std::string_view::npos) name = part(name, colon + 1);
        Input found(nullptr, 0);
        for (Input pairs = Within::scopes(); !pairs.is_at_end(); skip_item(pairs))
            if (text_item(pairs) == name) found = pairs;
        if (!found.is_at_end())
            set(found);
        else if (name == "context")
            set_json([this] { put_scopes(json, Within::scopes()); });
    }

  private:
    void set(Input in) {
        constexpr std::uint64_t kMost = ~std::uint64_t{0} >> 1;
        Input ahead = in;
        const ItemHead head(ahead);
        if (head.major <= 1 && head.count <= kMost) {
            type = DynamicType::kInteger;
            integer = static_cast<std::int64_t>(head.count);
            if (head.major == 1) integer = -1 - integer;
        } else if (head.major == 3) {
            type = DynamicType::kText;
            text = text_item(in);
            text = part(text, 0, text.find('\0'));
        } else if (head.major == 7 && (head.low == 20 || head.low == 21)) {
            type = DynamicType::kInteger;
            integer = head.low == 21;
        } else if (head.is_float()) {
            type = DynamicType::kReal;
            real = head.real();
        } else {
            set_json([&] { put_item(json, in); });
        }
    }
    template <class Put>
    void set_json(const Put& put) {
        put();
        if (!json.is_whole()) return;
        type = DynamicType::kText;
        text = {json.bytes(), json.size()};
    }
};

// Of 64 bits in LTTng's buffers, which are packed on some processors.
#if defined(__x86_64__) || defined(__i386__) || defined(__powerpc__)
inline constexpr std::size_t kWideAlignment = 1;
#else
inline constexpr std::size_t kWideAlignment = 8;
#endif

inline const char* name_of_context(void* context) { return static_cast<AppContext*>(context)->name; }

inline std::size_t size_of_context(void* context, ProbeContext*, std::size_t offset) {
    const ScopeValue value(name_of_context(context));
    if (value.type == DynamicType::kNone) return 1;
    if (value.type == DynamicType::kText) return 1 + value.text.size() + 1;
    return 1 + ((kWideAlignment - (offset + 1) % kWideAlignment) % kWideAlignment) + 8;
}

inline void record_context(void* context, ProbeContext*, RingContext* ring, Buffer* buffer) {
    const ScopeValue value(name_of_context(context));
    const BufferOps& ops = *buffer->ops;
    const char type = static_cast<char>(value.type);
    ops.write(ring, &type, 1, 1);
    if (value.type == DynamicType::kInteger) ops.write(ring, &value.integer, 8, kWideAlignment);
    if (value.type == DynamicType::kReal) ops.write(ring, &value.real, 8, kWideAlignment);
    if (value.type != DynamicType::kText) return;
    if (!value.text.empty()) ops.write(ring, value.text.data(), value.text.size(), 1);
    ops.write(ring, "", 1, 1);
}

// For filters.
inline void value_of_context(void* context, ProbeContext*, ContextValue* out) {
    const ScopeValue value(name_of_context(context));
    out->type = value.type;
    if (value.type == DynamicType::kInteger) out->integer = value.integer;
    if (value.type == DynamicType::kReal) out->real = value.real;
    if (value.type != DynamicType::kText) return;
    char* const kept = Within::keep(value.text.size() + 1);
    if (kept == nullptr) {
        out->type = DynamicType::kNone;
        return;
    }
    if (!value.text.empty()) std::memcpy(kept, value.text.data(), value.text.size());
    kept[value.text.size()] = 0;
    out->text = kept;
}

inline constinit ContextProvider context_provider{.name = "$app.silverpoint",
                                                  .get_size = size_of_context,
                                                  .record = record_context,
                                                  .get_value = value_of_context};

}  // namespace silverpoint::lttng
