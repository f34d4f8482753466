// Contexts in C (silverpoint/c/context.h): the C++ frontend's, of arguments that are known by their codes.
#include <silverpoint/context.hpp>
#include <silverpoint/silverpoint.hpp>

#include "c_arguments.hpp"

SP_DETAIL_BEGIN

namespace {

struct Bytes {
    const char* data;
    std::size_t size;
};

}  // namespace

template <>
struct Codec<Bytes> {
    static bool put_cbor(CborWriter& out, const Bytes& value) { return out.bytes(value.data, value.size); }
};
namespace {

std::string_view text_of(const Argument& of) {
    return {of.block,
            of.fixed == Argument::kText ? std::strlen(of.block) : static_cast<std::size_t>(of.bits)};
}

template <class T>
T bits_of(const Argument& of) {
    T value;
    __builtin_memcpy(&value, &of.bits, sizeof value);
    return value;
}

void add_field(ContextFields& fields, std::string_view name, char code, const Argument& of) {
    switch (code) {
        case 'b':
            return fields.add(name, of.bits != 0);
        case 'c':
            return fields.add(name, static_cast<char>(of.bits));
        case 'a':
        case 'h':
        case 'i':
        case 'l': {
            // Captured as its own type, whose bytes are the lowest.
            const unsigned unused = 64 - 8 * of.fixed;
            return fields.add(name, static_cast<std::int64_t>(of.bits << unused) >> unused);
        }
        case 'A':
        case 'H':
        case 'I':
        case 'L': {
            const unsigned unused = 64 - 8 * of.fixed;
            return fields.add(name, of.bits << unused >> unused);
        }
        case 'o':
        case 'O': {
            const auto wide = static_cast<unsigned __int128>(of.high) << 64 | of.bits;
            if (code == 'O') return fields.add(name, wide);
            return fields.add(name, static_cast<__int128>(wide));
        }
        case 'f':
            return fields.add(name, bits_of<float>(of));
        case 'd':
            return fields.add(name, bits_of<double>(of));
        case 's':
            return fields.add(name, text_of(of));
        case 'y':
            return fields.add(name, Bytes{of.block, of.bits});
        case '*':
            return fields.add(name, Secret{});
        default:
            return fields.add(name, reinterpret_cast<const void*>(of.bits));
    }
}

// sp_context and sp_captured_context of silverpoint/c/context.h.
struct CScope {
    std::uint64_t number;
};
struct CCaptured {
    std::uint32_t size;
    bool is_cut;
    char pairs[kContextBytes];
};
static_assert(sizeof(CCaptured) == 1432 && offsetof(CCaptured, pairs) == 5);

}  // namespace

SP_DETAIL_END

using namespace silverpoint::detail;

extern "C" {

SP_DETAIL_OWN CScope sp_c_context_enter(const char* codes, const Argument* items, unsigned count) {
    ContextFields fields;
    for (unsigned i = 0; i + 1 < count; i += 2)
        add_field(fields, text_of(items[i]), codes[i + 1], items[i + 1]);
    return {fields.enter()};
}

SP_DETAIL_OWN void sp_context_leave(const CScope* scope) { leave_context(scope->number); }

SP_DETAIL_OWN void sp_context_capture(CCaptured* taken) {
    taken->size = 0;
    taken->is_cut = false;
    Thread* thread = thread_of_contexts();
    if (thread == nullptr) return;
    Contexts& contexts = thread->contexts;
    contexts.alone([&] {
        taken->size = static_cast<std::uint32_t>(contexts.size());
        taken->is_cut = contexts.is_cut();
        __builtin_memcpy(taken->pairs, contexts.pairs(), taken->size);
    });
}

SP_DETAIL_OWN CScope sp_context_enter(const CCaptured* taken) {
    if (taken->size == 0 || taken->size > kContextBytes) return {0};
    return {enter_context(taken->pairs, taken->size, taken->is_cut)};
}
}
