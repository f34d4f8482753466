// Spans that cross threads, flows, links, and spans named after their function.
//
//     const auto id = silverpoint::new_id();
//     SP_ASYNC_BEGIN("fetch", id, url);  …
//     SP_ASYNC_INSTANT("fetch", id, bytes);  …
//     SP_ASYNC_END("fetch", id);
//     silverpoint::AsyncSpan span = SP_ASYNC_SPAN("fetch", url);   ends with its owner, wherever that is
//     SP_FLOW_BEGIN("order", id);  …  SP_FLOW_STEP("order", id);  …  SP_FLOW_END("order", id);
//     SP_LINK(from, to);                                what has the id `to` came from what has `from`
//     SP_SCOPE();                                       a span named after this function
//
// A begin and an end belong together by session, category, name and id (spec/wire.md, section 7). An id is a
// whole number or a pointer.
#pragma once

#include "front.hpp"
#include "ids.hpp"
#include "usdt_held.hpp"

SP_DETAIL_BEGIN

template <class T>
SP_DETAIL_HOT std::uint64_t id_of(T id) {
    if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<std::uintptr_t>(id);
    } else {
        static_assert(std::integral<T> && !std::same_as<T, bool>,
                      "silverpoint: an id is a whole number or a pointer");
        return static_cast<std::uint64_t>(id);
    }
}

// The span's name is the function's, as directives use it.
SP_DETAIL_COLD std::uint64_t complete_scope(Site& site, const char* pretty) {
    return complete_site<>(site, Kind::kSpan, {}, function_name(pretty));
}

SP_DETAIL_HOT std::uint64_t record_scope(Site& site, const char* pretty) {
    std::uint64_t head = site.head.load(std::memory_order_relaxed);
    if (is_no_head(head)) [[unlikely]] {
        head = site.is_traced(head) ? known_mark(Kind::kSpan, head) : complete_scope(site, pretty);
        if (head == 0) return 0;
        if ((head & kProbedHead) != 0) return record_probed<>(head, site);
    }
    return record_captured(head, site);
}

// The two sites of one place: of the begin, and of the end.
struct AsyncSite {
    Site begin;
    Site end;

    constexpr AsyncSite(Level level, const char* file, std::uint32_t line)
        : begin(level, file, line), end(level, file, line) {}
};

// The end of an async span whose site is complete.
SP_DETAIL_HOT void record_async_end(Site& site, std::uint64_t id) {
    Site* records = &site;
    const std::uint8_t value = site.state_byte();
    if ((value & kProbedBit) != 0 && !site.is_quiet(value)) [[unlikely]] {
        records = end_otherwise(site, id);
        if (records == nullptr) return;
    }
    record(*records, Kind::kAsyncEnd, {}, {}, id);
}

// Prepares the end's site, so that the end needs only an id.
SP_DETAIL_COLD bool complete_end(AsyncSite& site, std::string_view name) {
    site.end.is_wanted(site.begin.function.load(std::memory_order_relaxed),
                       site.begin.category.load(std::memory_order_relaxed));
    return complete_named<std::uint64_t>(site.end, Kind::kAsyncEnd, name, "id") != 0;
}
// The end's site, after the begin; null: there is no room for it.
SP_DETAIL_HOT Site* end_of(AsyncSite& site, std::string_view name) {
    if (site.end.whole.load(std::memory_order_relaxed) == 0 && !complete_end(site, name)) return nullptr;
    return &site.end;
}

SP_DETAIL_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// A span that may end in another thread than it began in. It is made by SP_ASYNC_SPAN, can be moved, and ends
// when its owner ends or end() is called. Costs two records and an id; nothing if its site is off.
class SP_DETAIL_VISIBLE AsyncSpan {
  public:
    AsyncSpan() = default;
    SP_DETAIL_OWN AsyncSpan(detail::Site& end, std::uint64_t id) : end_(&end), id_(id) {}
    SP_DETAIL_OWN AsyncSpan(AsyncSpan&& other) noexcept
        : end_(std::exchange(other.end_, nullptr)), id_(std::exchange(other.id_, 0)) {}
    // The span held before ends.
    SP_DETAIL_OWN AsyncSpan& operator=(AsyncSpan&& other) noexcept {
        if (this != &other) {
            end();
            end_ = std::exchange(other.end_, nullptr);
            id_ = std::exchange(other.id_, 0);
        }
        return *this;
    }
    SP_DETAIL_OWN ~AsyncSpan() { end(); }

    // Ends it now; does nothing if it has ended, was moved from, or was off.
    SP_DETAIL_OWN void end() {
        auto* site = static_cast<detail::Site*>(std::exchange(end_, nullptr));
        if (site != nullptr) detail::record_async_end(*site, std::exchange(id_, 0));
    }
    // Its id, for SP_ASYNC_INSTANT, SP_LINK and messages to other processes; 0 when it is not open.
    SP_DETAIL_OWN std::uint64_t id() const { return id_; }
    SP_DETAIL_OWN explicit operator bool() const { return id_ != 0; }

  private:
    void* end_ = nullptr;  // a site, without its type, which is hidden
    std::uint64_t id_ = 0;
};

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

SP_DETAIL_BEGIN

SP_DETAIL_HOT AsyncSpan async_span(Site* end, std::uint64_t id) {
    return end == nullptr ? AsyncSpan() : AsyncSpan(*end, id);
}
template <class Arguments>
SP_DETAIL_HOT AsyncSpan begin_async_span(void* found, std::string_view name, std::string_view source,
                                         std::uint64_t id, const Arguments& given) {
    auto& sites = *static_cast<AsyncSite*>(found);
    if (record_given(sites.begin, Kind::kAsyncBegin, name, source, given) == 0) return {};
    return async_span(end_of(sites, name), id);
}

SP_DETAIL_END

#define SP_DETAIL_WITH_ID(level, kind, name, id, ...)                                                   \
    do {                                                                                                \
        if (void* const sp_site_ = SP_DETAIL_ON(level, kind, "id" __VA_OPT__(", " #__VA_ARGS__), name)) \
            SP_DETAIL_RECORD(sp_site_, kind, name, "id" __VA_OPT__(", " #__VA_ARGS__),                  \
                             ::silverpoint::detail::id_of(id) __VA_OPT__(, ) __VA_ARGS__);              \
    } while (false)

#define SP_ASYNC_BEGIN(name, id, ...) SP_ASYNC_BEGIN_AT(debug, name, id __VA_OPT__(, ) __VA_ARGS__)
#define SP_ASYNC_BEGIN_AT(level, name, id, ...) \
    SP_DETAIL_WITH_ID(level, kAsyncBegin, name, id __VA_OPT__(, ) __VA_ARGS__)
#define SP_ASYNC_END(name, id, ...) SP_ASYNC_END_AT(debug, name, id __VA_OPT__(, ) __VA_ARGS__)
#define SP_ASYNC_END_AT(level, name, id, ...) \
    SP_DETAIL_WITH_ID(level, kAsyncEnd, name, id __VA_OPT__(, ) __VA_ARGS__)
#define SP_ASYNC_INSTANT(name, id, ...) SP_ASYNC_INSTANT_AT(debug, name, id __VA_OPT__(, ) __VA_ARGS__)
#define SP_ASYNC_INSTANT_AT(level, name, id, ...) \
    SP_DETAIL_WITH_ID(level, kAsyncInstant, name, id __VA_OPT__(, ) __VA_ARGS__)

#define SP_FLOW_BEGIN(name, id) SP_DETAIL_WITH_ID(debug, kFlowBegin, name, id)
#define SP_FLOW_STEP(name, id) SP_DETAIL_WITH_ID(debug, kFlowStep, name, id)
#define SP_FLOW_END(name, id) SP_DETAIL_WITH_ID(debug, kFlowEnd, name, id)

#define SP_LINK(from, to)                                                                                   \
    do {                                                                                                    \
        if (void* const sp_site_ = SP_DETAIL_ON(debug, kLink, "from, to", "link"))                          \
            SP_DETAIL_RECORD_NAMED(sp_site_, kLink, "link", "from, to", ::silverpoint::detail::id_of(from), \
                                   ::silverpoint::detail::id_of(to));                                       \
    } while (false)

// An expression: the span that begins here. The name must live as long as the program.
#define SP_ASYNC_SPAN(name, ...) SP_ASYNC_SPAN_AT(debug, name __VA_OPT__(, ) __VA_ARGS__)
#define SP_ASYNC_SPAN_AT(level, name, ...)                                                      \
    ([&](void* sp_site_) -> ::silverpoint::AsyncSpan {                                          \
        if (sp_site_ == nullptr) return {};                                                     \
        const ::std::uint64_t sp_id_ = ::silverpoint::new_id();                                 \
        return SP_DETAIL_ASYNC_SPAN(sp_site_, name, "id" __VA_OPT__(", " #__VA_ARGS__), sp_id_, \
                                    SP_DETAIL_GIVEN(sp_id_ __VA_OPT__(, ) __VA_ARGS__));        \
    }(SP_DETAIL_FOUND(AsyncSite, begin, kAsyncBegin, level, SP_DETAIL_CATEGORY, {               \
         SP_DETAIL_LIST_AT(level, kAsyncBegin, "id" __VA_OPT__(", " #__VA_ARGS__), name);       \
         SP_DETAIL_LIST_AT(level, kAsyncEnd, "id", name);                                       \
     })))

#define SP_SCOPE() SP_SCOPE_AT(debug)
#define SP_SCOPE_AT(level)                                                                             \
    SP_DETAIL_SCOPE(SP_DETAIL_FOUND(                                                                   \
        StreamSite, site, kSpan, level, SP_DETAIL_CATEGORY,                                            \
        SP_DETAIL_LIST(::silverpoint::detail::listed_scope(::silverpoint::detail::level_names::level), \
                       __LINE__, SP_DETAIL_CATEGORY, "", "")))
