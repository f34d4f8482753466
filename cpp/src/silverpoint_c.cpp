// What C tracepoints do once for a place, a thread or a process. It is the C++ frontend's cold paths, behind
// the functions that silverpoint/c/record.h declares. It needs nothing of the C++ library, so that a C
// compiler links it.
#include <silverpoint/detail/packed_bytes.hpp>
#include <silverpoint/silverpoint.hpp>

#include "c_arguments.hpp"
#include "c_percent.hpp"

using namespace silverpoint::detail;

namespace {

// That of silverpoint/c/record.h.
struct Body {
    const char* names;
    const char* text;
    const char* codes;
    const char* unit;
    std::uint32_t size;
    std::uint8_t kind;
};

struct Span {
    Site* site;
    std::uint64_t ticks;
};

// With kProbedSpan: without a tracer the span would hold its ticks alone.
constexpr std::uint64_t kUsdtPlain = std::uint64_t{1} << 61;

static_assert(sizeof(UsdtEnd) == 88 && offsetof(UsdtEnd, hit) == 72 && offsetof(UsdtEnd, recorded) == 80);
static_assert(sizeof(EveryWhile) == sizeof(std::uint64_t));
static_assert(sizeof(Site) == 72 && offsetof(Site, whole) == 56 && offsetof(Site, quiet_of) == 64 &&
              offsetof(Site, head) == 8 && offsetof(Site, line) == 16 && offsetof(Site, level) == 20 &&
              offsetof(Site, language) == 21 && offsetof(Site, bounded) == 22 &&
              offsetof(Site, probed) == 23 && offsetof(Site, entry) == 24 && offsetof(Site, file) == 32 &&
              offsetof(Site, function) == 40 && offsetof(Site, category) == 48);
static_assert(offsetof(ProbeEvent, state) == 8 && offsetof(ProbeEvent, end) == 24);
static_assert(offsetof(Lane, cur) == 8 && offsetof(Lane, limit) == 16 && offsetof(Lane, delta) == 24 &&
              offsetof(Lane, committed) == 32 && offsetof(Lane, reach) == 40);

// A text of bounded length that is put together; what does not fit makes it unusable.
class Letters {
  public:
    void add(char c) {
        if (len_ < sizeof text_) text_[len_] = c;
        ++len_;
    }
    void add(std::string_view text) {
        for (const char c : text) add(c);
    }
    // As a name in a signature (spec/wire.md, section 10).
    void name(std::string_view text) {
        for (const char c : text) {
            if (c <= ' ' || c > '~' || std::string_view("%|:,;=><").find(c) != std::string_view::npos) {
                constexpr char digits[] = "0123456789ABCDEF";
                add('%');
                add(digits[static_cast<unsigned char>(c) >> 4]);
                add(digits[c & 15]);
            } else {
                add(c);
            }
        }
    }
    std::string_view text() const { return {text_, len_ < sizeof text_ ? len_ : 0}; }

  private:
    char text_[600];
    std::size_t len_ = 0;
};

// Names of `count` arguments, of the source of all macro arguments: the first is the site's own name. An
// async span's, or a flow's, first argument is its id.
class ArgumentNames {
  public:
    ArgumentNames(const char* source, Kind kind, std::size_t count) {
        const bool has_id = kind >= Kind::kAsyncBegin && kind <= Kind::kFlowEnd;
        const std::size_t written = count + 1 + (kind == Kind::kCounter ? 1 : 0);
        Names names(source, written);
        std::string_view all = names.text();
        for (std::size_t i = 0; i <= count; ++i) {
            const std::size_t end = all.find('\n');
            if (end == std::string_view::npos) return;
            if (i == 1 && has_id) {
                add("id\n");
            } else if (i > 0) {
                add(part(all, 0, end + 1));
            }
            all.remove_prefix(end + 1);
        }
    }
    std::string_view text() const { return {text_, len_}; }

  private:
    void add(std::string_view text) {
        if (text.size() > sizeof text_ - len_) return;
        std::memcpy(text_ + len_, text.data(), text.size());
        len_ += text.size();
    }
    char text_[2047];
    std::size_t len_ = 0;
};

// Room for a text while this exists: on the stack, on which there may be little, or else mapped.
class ShortLived {
  public:
    explicit ShortLived(std::size_t size) : size_(size) {
        if (size <= sizeof own_) return;
        const SystemGuard guard;
        mapped_ = static_cast<char*>(map_private(size));
    }
    ShortLived(const ShortLived&) = delete;
    ShortLived& operator=(const ShortLived&) = delete;
    ~ShortLived() {
        if (mapped_ == nullptr) return;
        const SystemGuard guard;
        unmap(mapped_, size_);
    }
    // Null: the system has no memory.
    char* text() { return size_ <= sizeof own_ ? own_ : mapped_; }

  private:
    std::size_t size_;
    char* mapped_ = nullptr;
    char own_[512];
};

// A record's arguments where they are given as a list.
char* put_all(char* out, const Argument* arguments, unsigned count, std::size_t share, bool& cut) {
    for (unsigned i = 0; i < count; ++i) {
        const Argument& of = arguments[i];
        if (!of.is_block()) {
            const std::uint64_t words[2] = {of.bits, of.high};
            std::memcpy(out, words, of.fixed);
            out += of.fixed;
        } else if (of.size() <= share) {
            out = put_block(put_length(out, of.bits), of.block, of.bits);
        } else {
            const std::size_t kept = share - 8;
            out = put_length(out, kept | kCut);
            out = put_length(out, of.bits - kept < 0xFFFFFFFF ? of.bits - kept : 0xFFFFFFFF);
            std::memcpy(out, of.block, kept);
            out += kept;
            cut = true;
        }
    }
    return out;
}

// A record as it is put into a lane that is busy.
std::uint64_t put_record(const Reservation& found, std::uint64_t head, const Argument* arguments,
                         unsigned count, std::size_t share) {
    bool cut = false;
    char* out = put_all(found.at + 16, arguments, count, share, cut);
    const std::size_t size = round_up_8(static_cast<std::size_t>(out - found.at));
    std::memset(out, 0, static_cast<std::size_t>(found.at + size - out));
    const std::uint64_t ticks =
#if defined(SILVERPOINT_TEST_TICKS)
        SILVERPOINT_TEST_TICKS;
#else
        session.now();
#endif
    put_bytes(put_bytes(found.at, (head & ~std::uint64_t{0xFFFFFF}) | size | (cut ? kTruncated : 0)), ticks);
    commit_slowly(found.lane, found.at, size);
    return ticks;
}

}  // namespace

extern "C" {

SP_DETAIL_OWN extern const unsigned char sp_c_unregistered;
const unsigned char sp_c_unregistered = 0x80;

#if defined(_WIN64)
Lane** sp_c_lane_of_thread(void) { return &tls_lane; }
#endif

// A printf text of a site that is not registered yet.
[[gnu::noinline, gnu::cold]] static void look_at(const char* text, Site* site) {
    std::uint8_t flags = 0;
    each_conversion(text, [&](const Conversion& of) {
        if (of.letter == 's' && of.is_precise()) flags |= kBounded;
        if (of.letter == 'm' || of.is_numbered) flags |= kRewritten;
    });
    __atomic_store_n(&site->bounded, flags, __ATOMIC_RELAXED);
}
[[gnu::noinline, gnu::cold]] static bool is_on_first(Site* site, unsigned char state, const char* function,
                                                     const char* category, const char* text) {
    if (text != nullptr) look_at(text, site);
    return site->is_wanted_otherwise(state, function, category);
}

// States other than off and on. `text` is a printf text, or null.
SP_DETAIL_OWN bool sp_c_is_on_otherwise(Site* site, unsigned char state, const char* function,
                                        const char* category, const char* text) {
    if (site->is_known_wanted(state)) [[likely]]
        return true;
    if ((state & 0x80) != 0) [[unlikely]]
        return is_on_first(site, state, function, category, text);
    return site->is_wanted_newly(state, function, category);
}

// Completes a site at its first recording; its head, 0 when there is no room for another site.
[[gnu::noinline, gnu::cold]] static std::uint64_t complete(Site* site, const Body* body) {
    if (site->whole.load(std::memory_order_acquire) != 0) return marked_head(*site, Kind{body->kind});
    Letters signature;
    for (const char* code = body->codes; *code != 0; ++code) {
        if (code == body->codes && body->unit[0] != 0) {
            signature.add("@unit=");
            signature.name(body->unit);
            signature.add(';');
        }
        if (*code == '*') {
            signature.add("@secret=;n");
        } else {
            signature.add(*code);
        }
    }
    const Kind kind{body->kind};
    const std::size_t count = std::strlen(body->codes);
    const ArgumentNames names(body->names == nullptr ? "" : body->names, kind,
                              body->names == nullptr ? 0 : count);
    if (!site->complete(kind, names.text(), body->text, signature.text(), body->size)) {
        count_session_loss(Cause::kNoSite);
        return 0;
    }
    return marked_head(*site, kind);
}

SP_DETAIL_OWN std::uint64_t sp_c_record_slowly(Lane*, std::uint64_t, const Site*, const Argument*, unsigned);

// As record_probed (silverpoint/detail/probe_record.hpp).
[[gnu::noinline]] static std::uint64_t record_probed_slowly(std::uint64_t head, const Site* site,
                                                            const Argument* arguments, unsigned count) {
    const bool is_span = (head & kProbedSpanHead) != 0;
    const std::uint64_t began = is_span ? session.now() : 1;
    std::size_t size = 0;
    for (unsigned i = 0; i < count; ++i) size += arguments[i].size();
    Scratch scratch;
    char* const out = size <= kRecordMax ? scratch.fit(scratch.begin(), size + 16) : nullptr;
    bool cut = false, records;
    if (out != nullptr) {
        put_all(out, arguments, count, kRecordMax, cut);
        records = write_probe(head | (cut ? kTruncated : 0), *site, out, size, __builtin_return_address(0));
    } else {
        records = site->records();
    }
    std::uint64_t ticks = 0;
    if (records)
        ticks =
            sp_c_record_slowly(nullptr, site->whole.load(std::memory_order_acquire), site, arguments, count);
    if (!is_span) return ticks != 0 ? ticks : began;
    return hold_span(*site, ticks, began);
}

// The event, and the record if the ring wants it, of packed arguments. 0: the head is no tracer's any more.
[[gnu::noinline]] static std::uint64_t record_traced(const Site* site, std::uint64_t head, bool is_span,
                                                     const char* bytes, std::size_t size, void* caller) {
    if (!site->is_traced(head)) [[unlikely]]
        return 0;
    const std::uint64_t began = is_span ? session.now() : 1;
    // Before the record, which may have to wait for room.
    write_known(head, probe_record(bytes, size, false, caller));
    std::uint64_t ticks = 0;
    if ((traced_state(head) & 1) != 0) ticks = record_packed(0, *site, bytes, size);
    if (!is_span) return 1;
    return hold_span(*site, ticks, began);
}
// The same of a traced_head. Usually the ring does not want the record.
SP_DETAIL_HOT std::uint64_t write_traced(const Site* site, std::uint64_t head, bool is_span,
                                         const char* bytes, std::size_t size, void* caller) {
    if (is_span || site->state_byte() != kProbedBit) [[unlikely]]
        return record_traced(site, head, is_span, bytes, size, caller);
    write_known(head, probe_record(bytes, size, false, caller));
    return 1;
}

// As silverpoint/c/record.h says.
SP_DETAIL_OWN std::uint64_t sp_c_record_traced_numbers(Site* site, std::uint64_t head, bool is_span,
                                                       const char* bytes, std::size_t size) {
    return write_traced(site, head, is_span, bytes, size, __builtin_return_address(0));
}
SP_DETAIL_OWN std::uint64_t sp_c_record_traced_alone(Site* site, std::uint64_t head) {
    return write_traced(site, head, false, nullptr, 0, __builtin_return_address(0));
}
// The same. Short arguments need no more than this function.
SP_DETAIL_OWN std::uint64_t sp_c_record_traced(Site* site, std::uint64_t head, bool is_span,
                                               const Argument* arguments, unsigned count) {
    const auto give_up = [&] {
        if (!site->is_traced(head)) return std::uint64_t{0};
        const std::uint64_t mark = known_mark(is_span ? Kind::kSpan : Kind::kEvent, head);
        return record_probed_slowly(mark, site, arguments, count);
    };
    constexpr std::size_t kNear = 512, kWords = 16;
    // Values of another size are copied as if they had that one: the next lies over the rest.
    char near[kNear + kWords];
    char* out = near;
    for (const Argument *of = arguments, *const end = arguments + count; of != end; ++of) {
        const auto left = static_cast<std::size_t>(near + kNear - out);
        if (!of->is_block()) {
            if (left < kWords) [[unlikely]]
                return give_up();
            std::memcpy(out, &of->bits, 8);
            std::memcpy(out + 8, &of->high, 8);
            out += of->fixed;
        } else {
            if (left < 4 || of->bits > left - 4) [[unlikely]]
                return give_up();
            out = put_block(put_length(out, of->bits), of->block, of->bits);
        }
    }
    const auto size = static_cast<std::size_t>(out - near);
    return write_traced(site, head, is_span, near, size, __builtin_return_address(0));
}

// As silverpoint/c/record.h says.
SP_DETAIL_OWN std::uint64_t sp_c_record_first(Site* site, const Body* body, const Argument* arguments,
                                              unsigned count, std::uint64_t* ticks) {
    const std::uint64_t head = complete(site, body);
    if ((head & kProbedHead) == 0) return head;
    *ticks = record_probed_slowly(head, site, arguments, count);
    return 0;
}

// A record that does not fit before the limit, or whose lane is not ready; 0 when it is lost.
SP_DETAIL_OWN std::uint64_t sp_c_record_slowly(Lane* entered, std::uint64_t head, const Site* site,
                                               const Argument* arguments, unsigned count) {
    if ((head & kProbedHead) != 0) return record_probed_slowly(head, site, arguments, count);
    std::size_t fixed = 16, blocks = 0, exact = 16;
    for (unsigned i = 0; i < count; ++i) {
        exact += arguments[i].size();
        if (arguments[i].is_block()) {
            ++blocks;
        } else {
            fixed += arguments[i].size();
        }
    }
    const Entry entry{entered, stack_mark(__builtin_frame_address(0))};
    Reservation found = reserve(entry, round_up_8(exact), site->level);
    if (found.at != nullptr) return put_record(found, head, arguments, count, exact);
    if (found.lane == nullptr) return 0;
    if (blocks == 0) {
        count_loss(*found.lane, Cause::kTooLarge);
        return 0;
    }
    // Larger than any ring takes: what is longer than its share is cut.
    std::size_t most = 0;
    for (unsigned size = 0; size < kSizes; ++size)
        if (capacity_of(size) / 4 > most) most = (capacity_of(size) / 4) & ~std::size_t{7};
    if (most > kRecordMax) most = kRecordMax;
    std::size_t share = most > fixed ? (most - fixed) / blocks : 0, shorts = 0, longs = 0;
    for (unsigned i = 0; i < count; ++i) {
        if (!arguments[i].is_block()) continue;
        if (arguments[i].size() <= share) {
            shorts += arguments[i].size();
        } else {
            ++longs;
        }
    }
    if (longs > 0) share = (most - fixed - shorts) / longs;
    found = reserve({nullptr, entry.frame}, most, site->level);
    if (found.at == nullptr) {
        if (found.lane != nullptr) count_loss(*found.lane, Cause::kTooLarge);
        return 0;
    }
    if (share < 8) {
        count_loss(*found.lane, Cause::kTooLarge);
        make_ready(found.lane);
        return 0;
    }
    return put_record(found, head, arguments, count, share);
}

// Where a span ends that has a USDT probe. It holds when it began, or what it held without a tracer.
[[gnu::noinline, gnu::cold]] static void end_usdt_span(const UsdtEnd& end, std::uint64_t held,
                                                       std::uint64_t head) {
    const std::uint64_t began = held & ~(kProbedSpan | kRecordedSpan | kUsdtPlain);
    Site* const recorded = end.recorded.load(std::memory_order_relaxed);
    if (recorded == nullptr) return end.hit(monotonic_now() - began);
    const std::uint64_t now = session.now();
    end.hit(ns_of_ticks(now > began ? now - began : 0));
    if ((held & kUsdtPlain) == 0) return end_probed_span(*recorded, held, head);
    record_slowly<std::uint32_t, std::uint64_t>(nullptr, head, *recorded, recorded->id(), began);
}
SP_DETAIL_OWN void sp_c_end_probed_span(Site* site, std::uint64_t ticks, std::uint64_t head) {
    if (site->language == kUsdtEndLanguage) [[unlikely]]
        return end_usdt_span(reinterpret_cast<const UsdtEnd&>(*site), ticks, head);
    end_probed_span(*site, ticks, head);
}
SP_DETAIL_OWN void sp_c_usdt_until_end(Span* span, UsdtEnd* ends, void (*hit)(std::uint64_t)) {
    const bool is_recorded = span->ticks != 0;
    UsdtEnd& end = ends[is_recorded ? 1 : 0];
    // (Threads that come here at once store the same, but for the address of another copy of the probe.)
    __atomic_store_n(&end.hit, hit, __ATOMIC_RELAXED);
    if (is_recorded) end.recorded.store(span->site, std::memory_order_relaxed);
    if (!is_recorded) span->ticks = kProbedSpan | monotonic_now();
    if (static_cast<std::int64_t>(span->ticks) > 0) span->ticks |= kProbedSpan | kUsdtPlain;
    span->site = &end.site;
}

SP_DETAIL_OWN void sp_c_measure_bounded(const char* text, Argument* arguments, unsigned count) {
    each_conversion(text, [&](const Conversion& of) {
        if (of.letter != 's' || of.value >= count || arguments[of.value].fixed != Argument::kText) return;
        arguments[of.value].bits = strnlen(arguments[of.value].block, of.most(arguments, count));
        arguments[of.value].fixed = Argument::kMeasured;
    });
    for (unsigned i = 0; i < count; ++i) {
        if (arguments[i].fixed != Argument::kText) continue;
        arguments[i].bits = std::strlen(arguments[i].block);
        arguments[i].fixed = Argument::kMeasured;
    }
}

// A record whose text is not as printf has it. The site is completed at its first.
SP_DETAIL_OWN std::uint64_t sp_c_record_rewritten(Site* site, const char* text, const char* codes,
                                                  const Argument* arguments, unsigned count, int error) {
    const ErrorText error_text(error);
    const Rewritten made(text, codes, arguments, count, error_text);
    std::uint64_t head = site->head.load(std::memory_order_relaxed);
    if (is_no_head(head)) {
        // The session has its own copy. Where that cannot be made, each record comes here again.
        ShortLived rewritten(made.text_size() + 1);
        if (rewritten.text() == nullptr) {
            count_session_loss(Cause::kNoSite);
            return 0;
        }
        made.put_text(rewritten.text());
        const Body body{
            nullptr, rewritten.text(), made.codes(), "", 0, static_cast<std::uint8_t>(Kind::kPercent)};
        head = site->is_traced(head) ? known_mark(Kind::kPercent, head) : complete(site, &body);
        if (head == 0) return 0;
    }
    return sp_c_record_slowly(nullptr, head, site, made.arguments(), made.count());
}

SP_DETAIL_OWN bool sp_c_passes_EVERY(EveryWhile* last, std::int64_t milliseconds) {
    return last->passes(milliseconds);
}

SP_DETAIL_OWN void sp_c_join_handing(void (*take)(const silverpoint_made*), const std::uint32_t* functions) {
    join_handing(take, functions);
}

SP_DETAIL_OWN void sp_prepare_thread() { silverpoint::prepare_thread(); }
SP_DETAIL_OWN std::uint64_t sp_new_id() { return silverpoint::new_id(); }
}
