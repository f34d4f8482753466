// libsilverpoint_net: what .NET tracepoints do once for a place, a thread or a process, and the clock. It is
// the C++ frontend's cold paths behind functions that Silverpoint.dll calls (Native.cs). The hot path is in
// C# and writes into the ring itself, through the memory layout that is checked here.
//
// Needs nothing of the C++ library. All functions may be called from any thread.
#include <pthread.h>

// It is linked with `-z nodelete`, and on Windows keeps itself loaded: threads that feed system tracers, and
// places that managed code has, stay valid.
#define SP_DETAIL_STAYS_LOADED
#include <silverpoint/context.hpp>
#include <silverpoint/debug_output.hpp>
#include <silverpoint/silverpoint.hpp>

using namespace silverpoint::detail;

// What Native.cs declares with explicit offsets.
static_assert(sizeof(Site) == 72 && offsetof(Site, state) == 0 && offsetof(Site, head) == 8 &&
              offsetof(Site, level) == 20 && offsetof(Site, whole) == 56);
static_assert(offsetof(Lane, ready) == 0 && offsetof(Lane, cur) == 8 && offsetof(Lane, limit) == 16 &&
              offsetof(Lane, delta) == 24 && offsetof(Lane, committed) == 32);

namespace {

// Grows when a function or a layout changes: both files must be of one version.
constexpr int kInterface = 8;
constexpr std::uint16_t kDotnet = 4;

// A site and what it is known by. It stays as long as the process: code that is loaded again, and another
// domain of the runtime, get the same one.
struct Known {
    Known* next;
    std::uint64_t hash;
    std::size_t size;
    // What its first record consists of; null: nobody has said so. Behind it are the bytes.
    struct Claim {
        std::size_t size;
    }* claim;
    Site site;
    // Behind it: file, function, category and content, each with a zero byte behind it.
    char* texts() { return reinterpret_cast<char*>(this + 1); }
};

Known* known_sites[4096];
std::size_t known_count = 0;
pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;

struct Locked {
    Locked() { pthread_mutex_lock(&known_lock); }
    ~Locked() { pthread_mutex_unlock(&known_lock); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
};

char* put_text(char* to, const char* text, std::size_t size) {
    std::memcpy(to, text, size);
    to[size] = 0;
    return to + size + 1;
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
    const bool is_span = (head & kProbedSpanHead) != 0;
    const std::uint64_t began = is_span ? session.now() : 1;
    std::uint64_t ticks = 0;
    if (write_probe(head | (cut ? kTruncated : 0), site, bytes, size, caller))
        ticks = record(site.whole.load(std::memory_order_acquire), site, bytes, size, cut, frame);
    if (!is_span) return ticks != 0 ? ticks : began;
    return hold_span(site, ticks, began);
}

}  // namespace

#if defined(_WIN64)
#    define SPN_EXPORT extern "C" __declspec(dllexport)
#else
#    define SPN_EXPORT extern "C" [[gnu::visibility("default")]]
#endif

SPN_EXPORT int spn_interface();
SPN_EXPORT Lane* spn_begin(std::uint64_t head);
SPN_EXPORT void* spn_begin_address();
SPN_EXPORT Lane* spn_lane();
SPN_EXPORT void* spn_lane_address();
SPN_EXPORT Site* spn_site(int level, int line, const char* texts, std::size_t file_size,
                          std::size_t function_size, std::size_t category_size, std::size_t content_size);
SPN_EXPORT int spn_claim(Site* site, const char* content, std::size_t size);
SPN_EXPORT std::size_t spn_sites();
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
SPN_EXPORT void spn_debug_output(const char16_t* text, std::size_t units, int is_recorded);
SPN_EXPORT void spn_end_debug_output();

SPN_EXPORT int spn_interface() {
#if defined(_WIN64)
    keep_loaded(&known_sites);
#endif
    return kInterface;
}

// Begins a record in the calling thread's ring: head, time and tail are there, and the lane is busy. The
// caller puts the arguments between them and commits. Null: the lane is busy already, or the record does not
// fit before the limit. Managed code calls it by its address, without leaving managed mode: it blocks
// nowhere, and its argument and result are words. One call finds lane and room and reads the clock. Managed
// memory of the thread and a call for the clock would cost more.
SPN_EXPORT Lane* spn_begin(std::uint64_t head) {
    const std::size_t size = head & 0xFFFFFF;
    Lane* const lane = tls_lane;
    if (!is_ready(lane)) [[unlikely]]
        return nullptr;
    make_busy(lane);
    char* const at = lane->cur;
    if (!fits(lane, at, size)) [[unlikely]] {
        make_ready(lane);
        return nullptr;
    }
    const std::uint64_t ticks = counter();
    take_ahead(lane, at, size);
    // The tail first: the arguments may lie over it.
    put_bytes(at + size - 8, std::uint64_t{0});
    put_bytes(put_bytes(at, head), ticks);
    return lane;
}
SPN_EXPORT void* spn_begin_address() { return reinterpret_cast<void*>(&spn_begin); }

// The calling thread's lane; null before its first record. Called as spn_begin is.
SPN_EXPORT Lane* spn_lane() { return tls_lane == &empty_lane ? nullptr : tls_lane; }
SPN_EXPORT void* spn_lane_address() { return reinterpret_cast<void*>(&spn_lane); }

// The site of a place and content, which is never freed; null: no memory. Texts are UTF-8, one behind the
// other.
SPN_EXPORT Site* spn_site(int level, int line, const char* texts, std::size_t file_size,
                          std::size_t function_size, std::size_t category_size, std::size_t content_size) {
    const std::size_t given = file_size + function_size + category_size + content_size;
    const std::uint64_t numbers[] = {static_cast<std::uint64_t>(level), static_cast<std::uint64_t>(line),
                                     file_size, function_size, category_size};
    const std::uint64_t hash =
        fnv1a(texts, given, fnv1a(reinterpret_cast<const char*>(numbers), sizeof numbers));
    const Locked locked;
    Known*& first = known_sites[hash % std::size(known_sites)];
    auto* const made = static_cast<Known*>(std::malloc(sizeof(Known) + given + 4));
    if (made == nullptr) return nullptr;
    char* const file = made->texts();
    char* const function = put_text(file, texts, file_size);
    char* const category = put_text(function, texts + file_size, function_size);
    char* const content = put_text(category, texts + file_size + function_size, category_size);
    put_text(content, texts + given - content_size, content_size);
    for (Known* one = first; one != nullptr; one = one->next) {
        if (one->hash != hash || one->size != given + 4 ||
            one->site.line != static_cast<std::uint32_t>(line) ||
            static_cast<int>(one->site.level) != level || std::memcmp(one->texts(), file, given + 4) != 0)
            continue;
        std::free(made);
        return &one->site;
    }
    made->next = first;
    made->hash = hash;
    made->size = given + 4;
    made->claim = nullptr;
    auto* const site = new (&made->site)
        Site(static_cast<silverpoint::Level>(level), file, static_cast<std::uint32_t>(line));
    site->language = kDotnet;
    site->function.store(function, std::memory_order_relaxed);
    site->category.store(category, std::memory_order_relaxed);
    first = made;
    ++known_count;
    return site;
}

// Whether a site's records may have this content: it is the first one that is asked for, or the same.
SPN_EXPORT int spn_claim(Site* site, const char* content, std::size_t size) {
    auto* const known = reinterpret_cast<Known*>(reinterpret_cast<char*>(site) - offsetof(Known, site));
    const Locked locked;
    if (known->claim == nullptr) {
        known->claim = static_cast<Known::Claim*>(std::malloc(sizeof(Known::Claim) + size));
        if (known->claim == nullptr) return 0;
        known->claim->size = size;
        std::memcpy(known->claim + 1, content, size);
        return 1;
    }
    return known->claim->size == size && std::memcmp(known->claim + 1, content, size) == 0;
}

// How many sites there are.
SPN_EXPORT std::size_t spn_sites() {
    const Locked locked;
    return known_count;
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
    if (const std::uint64_t head = site->head.load(std::memory_order_relaxed); site->is_traced(head))
        return known_mark(of, head);
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

// A text for debuggers and debug monitors, besides its record.
SPN_EXPORT void spn_debug_output(const char16_t* text, std::size_t units, int is_recorded) {
    deliver_debug_text(std::u16string_view(text, units), is_recorded != 0);
}

// Delivers what waits for a monitor: the process is about to end. When Windows tells the library so, the
// thread that delivers is gone already. Other threads may still call the function above.
SPN_EXPORT void spn_end_debug_output() { end_debug_delivery(); }
