// What liblttng-ust.so.1 (2.13 and later) expects of a provider of events, as its public headers document it.
// Its structures only grow, and say their own size. So no header of LTTng is needed where a program is
// compiled, and no library where it runs without LTTng.
#pragma once

#include <cstddef>
#include <cstdint>

namespace silverpoint::lttng {

enum class Type : int { kInteger, kString, kFloat, kDynamic, kEnum, kArray, kSequence, kStruct };
enum class Encoding : int { kNone, kUtf8, kAscii };

struct TypeCommon {
    Type type;
};
struct TypeInteger {
    TypeCommon parent{Type::kInteger};
    std::uint32_t struct_size = sizeof(TypeInteger);
    unsigned bits = 0;
    unsigned short alignment = 8;
    unsigned is_signed : 1 = 0;
    unsigned reverse : 1 = 0;
    unsigned base = 10;
};
struct TypeFloat {
    TypeCommon parent{Type::kFloat};
    std::uint32_t struct_size = sizeof(TypeFloat);
    unsigned exponent_bits = 0, mantissa_bits = 0;
    unsigned short alignment = 8;
    unsigned reverse : 1 = 0;
};
struct EnumValue {
    unsigned long long value = 0;
    unsigned is_signed : 1 = 0;
};
struct EnumEntry {
    std::uint32_t struct_size = sizeof(EnumEntry);
    EnumValue start, end;
    const char* label = nullptr;
    unsigned options = 0;
};
struct ProbeDesc;
struct EnumDesc {
    std::uint32_t struct_size = sizeof(EnumDesc);
    const char* name = nullptr;
    const EnumEntry* const* entries = nullptr;
    unsigned count = 0;
    const ProbeDesc* probe = nullptr;
};
struct TypeEnum {
    TypeCommon parent{Type::kEnum};
    std::uint32_t struct_size = sizeof(TypeEnum);
    const EnumDesc* desc = nullptr;
    const TypeCommon* container = nullptr;
};
struct TypeArray {
    TypeCommon parent{Type::kArray};
    std::uint32_t struct_size = sizeof(TypeArray);
    const TypeCommon* element = nullptr;
    unsigned length = 0, alignment = 0;  // that of the element
    Encoding encoding = Encoding::kNone;
};
struct TypeSequence {
    TypeCommon parent{Type::kSequence};
    std::uint32_t struct_size = sizeof(TypeSequence);
    const char* length_name = nullptr;
    const TypeCommon* element = nullptr;
    unsigned alignment = 0;
    Encoding encoding = Encoding::kNone;
};
struct Field {
    std::uint32_t struct_size = sizeof(Field);
    const char* name = nullptr;
    const TypeCommon* type = nullptr;
    unsigned no_write : 1 = 0;
    unsigned no_filter : 1 = 0;
};
struct EventClass {
    std::uint32_t struct_size = sizeof(EventClass);
    const Field* const* fields = nullptr;
    std::size_t count = 0;
    void (*callback)() = nullptr;
    const char* signature = nullptr;
    const ProbeDesc* probe = nullptr;
};
struct EventDesc {
    std::uint32_t struct_size = sizeof(EventDesc);
    const char* name = nullptr;
    const ProbeDesc* probe = nullptr;
    const EventClass* event_class = nullptr;
    const int** level = nullptr;
    const char** uri = nullptr;
};
struct ProbeDesc {
    std::uint32_t struct_size = sizeof(ProbeDesc);
    const char* provider = nullptr;
    const EventDesc* const* events = nullptr;
    unsigned count = 0;
    std::uint32_t major = 3, minor = 0;
};
struct TracepointProbe {
    void (*function)();
    void* data;
};
struct Tracepoint {
    std::uint32_t struct_size = sizeof(Tracepoint);
    const char* provider = nullptr;
    const char* event = nullptr;
    int state = 0;
    TracepointProbe* probes = nullptr;
    int* provider_reference = nullptr;
    const char* signature = nullptr;
};

// What the library gives to a probe.
struct ProbeContext {
    std::uint32_t struct_size = sizeof(ProbeContext);
    void* caller = nullptr;
};
enum class EventType : int { kRecorder, kNotifier };
struct Event {
    std::uint32_t struct_size;
    void* priv;
    EventType type;
    void* child;
    int enabled;
    int eval_filter;
    int (*run_filter)(const Event*, const char* stack, ProbeContext*, void*);
};
struct Session {
    std::uint32_t struct_size;
    void* priv;
    int active;
};
struct Channel {
    std::uint32_t struct_size;
    void* priv;
    int type;
    void* child;
    int enabled;
    Session* session;
};
struct RingContext {
    std::uint32_t struct_size = sizeof(RingContext);
    void* client = nullptr;
    std::size_t size = 0;
    int alignment = 1;
    ProbeContext* probe = nullptr;
    void* priv = nullptr;
};
struct BufferOps {
    std::uint32_t struct_size;
    void* priv;
    int (*reserve)(RingContext*);
    void (*commit)(RingContext*);
    void (*write)(RingContext*, const void* from, std::size_t size, std::size_t alignment);
};
struct Buffer {
    std::uint32_t struct_size;
    Channel* parent;
    void* priv;
    BufferOps* ops;
};
struct Recorder {
    std::uint32_t struct_size;
    Event* parent;
    void* priv;
    Buffer* buffer;
};
struct NotificationContext {
    std::uint32_t struct_size = sizeof(NotificationContext);
    int eval_capture = 0;
};
struct Notifier {
    std::uint32_t struct_size;
    Event* parent;
    void* priv;
    int eval_capture;
    void (*send)(const Notifier*, const char* stack, ProbeContext*, NotificationContext*);
};

// Application contexts: not in public headers, but kept as they are for LTTng's agents of other languages.
enum class DynamicType : int { kNone = 0, kInteger = 4, kReal = 10, kText = 11 };
struct ContextValue {
    DynamicType type;
    union {
        std::int64_t integer;
        const char* text;
        double real;
    };
};
struct AppContext {
    std::uint32_t struct_size;
    void* field;
    const char* name;
};
struct ContextProvider {
    std::uint32_t struct_size = sizeof(ContextProvider);
    const char* name = nullptr;
    std::size_t (*get_size)(void* context, ProbeContext*, std::size_t offset) = nullptr;
    void (*record)(void* context, ProbeContext*, RingContext*, Buffer*) = nullptr;
    void (*get_value)(void* context, ProbeContext*, ContextValue*) = nullptr;
    void* priv = nullptr;
};

#if defined(__LP64__)
static_assert(sizeof(TypeInteger) == 20 && sizeof(TypeFloat) == 20 && sizeof(EnumValue) == 16);
static_assert(sizeof(EnumEntry) == 56 && sizeof(EnumDesc) == 40 && sizeof(TypeEnum) == 24);
static_assert(sizeof(TypeArray) == 32 && sizeof(TypeSequence) == 32 && sizeof(Field) == 32);
static_assert(sizeof(EventClass) == 48 && sizeof(EventDesc) == 48 && sizeof(ProbeDesc) == 40);
static_assert(sizeof(Tracepoint) == 56 && offsetof(Tracepoint, state) == 24);
static_assert(offsetof(Event, enabled) == 32 && offsetof(Event, run_filter) == 40);
static_assert(sizeof(RingContext) == 48 && offsetof(BufferOps, reserve) == 16);
static_assert(offsetof(Channel, session) == 40 && offsetof(Buffer, ops) == 24 &&
              offsetof(Notifier, send) == 32);
#endif

}  // namespace silverpoint::lttng
