// libsilverpoint_net: what .NET tracepoints do once for a place, a thread or a process, and the clock. It is
// the C++ frontend's cold paths behind functions that Silverpoint.dll calls (Native.cs). The hot path is in
// C# and writes into the ring itself, through the memory layout that is checked here.
//
// Needs nothing of the C++ library. All functions may be called from any thread.
#include <silverpoint/context.hpp>
#include <silverpoint/silverpoint.hpp>

using namespace silverpoint::detail;

// What Native.cs declares with explicit offsets.
static_assert(sizeof(Site) == 64 && offsetof(Site, state) == 0 && offsetof(Site, head) == 8 &&
              offsetof(Site, level) == 20 && offsetof(Site, whole) == 56);
static_assert(offsetof(Lane, ready) == 0 && offsetof(Lane, cur) == 8 && offsetof(Lane, limit) == 16 &&
              offsetof(Lane, delta) == 24 && offsetof(Lane, committed) == 32);

namespace {

// Grows when a function or a layout changes: both files must be of one version.
constexpr int kInterface = 3;
constexpr std::uint16_t kDotnet = 4;

// A copy that stays as long as the process, as sites do. Null: no memory.
char* keep(const char* text, std::size_t size) {
    auto* const kept = static_cast<char*>(std::malloc(size + 1));
    if (kept == nullptr) return nullptr;
    std::memcpy(kept, text, size);
    kept[size] = 0;
    return kept;
}

// The largest record that this session's rings accept.
std::size_t largest_record() {
    std::size_t most = 0;
    for (unsigned size = 0; size < kSizes; ++size)
        if (capacity_of(size) / 4 > most) most = (capacity_of(size) / 4) & ~std::size_t{7};
    return most < kRecordMax ? most : kRecordMax;
}

std::uint64_t record(std::uint64_t head, const Site& site, const char* bytes, std::size_t size, bool cut,
                     std::uint32_t frame) {
    const std::size_t whole = round_up_8(16 + size);
    const Reservation found = reserve({nullptr, frame}, whole, site.level);
    if (found.at == nullptr) {
        if (found.lane != nullptr) count_loss(*found.lane, Cause::kTooLarge);
        return 0;
    }
    std::memset(found.at + whole - 8, 0, 8);
    const std::uint64_t ticks = session.now();
    put_bytes(put_bytes(found.at, (head & ~std::uint64_t{0xFFFFFF}) | whole | (cut ? kTruncated : 0)), ticks);
    std::memcpy(found.at + 16, bytes, size);
    commit_slowly(found.lane, found.at, whole);
    return ticks;
}

// A record that a system tracer may want, too.
std::uint64_t record_for_probe(std::uint64_t head, const Site& site, const char* bytes, std::size_t size,
                               bool cut, std::uint32_t frame, void* caller) {
    const ProbeEvent* const event = probe_event(site.entry.load(std::memory_order_relaxed));
    const bool is_span = (head & kProbedSpanHead) != 0;
    const std::uint64_t began = is_span ? session.now() : 1;
    if (event != nullptr && event->is_wanted_by_any(false))
        write_probe(*event, false, bytes, size, cut, caller);
    std::uint64_t ticks = 0;
    if (site.records())
        ticks = record(head & ~(kProbedHead | kProbedSpanHead), site, bytes, size, cut, frame);
    if (!is_span) return ticks != 0 ? ticks : began;
    return kProbedSpan | (ticks != 0 ? kRecordedSpan | ticks : began);
}

}  // namespace

#define SPN_EXPORT extern "C" [[gnu::visibility("default")]]

SPN_EXPORT int spn_interface();
SPN_EXPORT std::uint64_t spn_counter();
SPN_EXPORT void* spn_counter_address();
SPN_EXPORT Lane* spn_lane();
SPN_EXPORT Site* spn_site(int level, int line, const char* file, std::size_t file_size, const char* function,
                          std::size_t function_size, const char* category, std::size_t category_size);
SPN_EXPORT int spn_wants(Site* site, int state);
SPN_EXPORT std::uint64_t spn_complete(Site* site, int kind, const char* names, std::size_t names_size,
                                      const char* text, std::size_t text_size, const char* signature,
                                      std::size_t signature_size, std::uint32_t size);
SPN_EXPORT std::uint64_t spn_record(Site* site, std::uint64_t head, const char* bytes, std::size_t size,
                                    int cut);
SPN_EXPORT void spn_lose(int cause);
SPN_EXPORT std::size_t spn_largest();
SPN_EXPORT std::uint64_t spn_new_id();
SPN_EXPORT void spn_end_probed_span(Site* site, std::uint64_t ticks);
SPN_EXPORT void spn_context(const char* pairs, std::size_t size, int cut);

SPN_EXPORT int spn_interface() { return kInterface; }

// The time stamp counter. Managed code calls it by its address, without leaving managed mode: it blocks
// nowhere and takes no argument.
SPN_EXPORT std::uint64_t spn_counter() { return counter(); }
SPN_EXPORT void* spn_counter_address() { return reinterpret_cast<void*>(&spn_counter); }

// The calling thread's lane; null when there is no session.
SPN_EXPORT Lane* spn_lane() {
    silverpoint::prepare_thread();
    return tls_lane == &empty_lane ? nullptr : tls_lane;
}

// A site, which is never freed; null: no memory. Texts are UTF-8.
SPN_EXPORT Site* spn_site(int level, int line, const char* file, std::size_t file_size, const char* function,
                          std::size_t function_size, const char* category, std::size_t category_size) {
    char* const kept_file = keep(file, file_size);
    char* const kept_function = keep(function, function_size);
    char* const kept_category = keep(category, category_size);
    void* const room = std::malloc(sizeof(Site));
    if (kept_file == nullptr || kept_function == nullptr || kept_category == nullptr || room == nullptr) {
        std::free(kept_file);
        std::free(kept_function);
        std::free(kept_category);
        std::free(room);
        return nullptr;
    }
    auto* const site =
        new (room) Site(static_cast<silverpoint::Level>(level), kept_file, static_cast<std::uint32_t>(line));
    site->language = kDotnet;
    site->function.store(kept_function, std::memory_order_relaxed);
    site->category.store(kept_category, std::memory_order_relaxed);
    return site;
}

// Whether a record is wanted, in states other than off and on.
SPN_EXPORT int spn_wants(Site* site, int state) {
    return site->is_wanted_otherwise(static_cast<std::uint8_t>(state),
                                     site->function.load(std::memory_order_relaxed),
                                     site->category.load(std::memory_order_relaxed));
}

// Completes a site at its first recording. The first word of its records; 0: there is no room for it, and the
// loss is counted.
SPN_EXPORT std::uint64_t spn_complete(Site* site, int kind, const char* names, std::size_t names_size,
                                      const char* text, std::size_t text_size, const char* signature,
                                      std::size_t signature_size, std::uint32_t size) {
    const Kind of{static_cast<std::uint8_t>(kind)};
    if (site->whole.load(std::memory_order_acquire) != 0) return marked_head(*site, of);
    if (!site->complete(of, {names, names_size}, {text, text_size}, {signature, signature_size}, size)) {
        count_session_loss(Cause::kNoSite);
        return 0;
    }
    return marked_head(*site, of);
}

// A record whose packed arguments are given; its ticks, 0 when it is lost.
SPN_EXPORT std::uint64_t spn_record(Site* site, std::uint64_t head, const char* bytes, std::size_t size,
                                    int cut) {
    const std::uint32_t frame = stack_mark(__builtin_frame_address(0));
    if ((head & kProbedHead) != 0)
        return record_for_probe(head, *site, bytes, size, cut != 0, frame, __builtin_return_address(0));
    return record(head, *site, bytes, size, cut != 0, frame);
}

// Counts a record that could not be made: it is larger than any ring accepts (5), or there is no site for it
// (6).
SPN_EXPORT void spn_lose(int cause) {
    count_session_loss(cause == static_cast<int>(Cause::kNoSite) ? Cause::kNoSite : Cause::kTooLarge);
}

// Bytes of arguments that the largest record has room for.
SPN_EXPORT std::size_t spn_largest() {
    return session.is_ready() || ensure_session() ? largest_record() - 16 : 0;
}

SPN_EXPORT std::uint64_t spn_new_id() { return silverpoint::new_id(); }

SPN_EXPORT void spn_end_probed_span(Site* site, std::uint64_t ticks) {
    end_probed_span(*site, ticks, std::uint64_t{kSiteSpanEnd} << 32 | 32);
}

// The fields of the calling thread's records from here on, instead of those before: pairs of CBOR items, at
// most kContextBytes. They are written into the ring before the next record. No managed code runs in a signal
// handler, so nothing interrupts the change.
SPN_EXPORT void spn_context(const char* pairs, std::size_t size, int cut) {
    Thread* const thread = thread_of_contexts();
    if (thread == nullptr) return;
    thread->contexts.reset();
    if (size != 0 || cut != 0) thread->contexts.push(pairs, size, cut != 0);
    ask_lanes(*thread);
}
