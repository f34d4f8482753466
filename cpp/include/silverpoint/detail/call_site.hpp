// Sites of functions: what makes `silverpoint::info("x {}", x)` and `spdlog::info(…)` cost what a macro
// costs.
//
//   info("x {}", x) ─▶ call_site<Tag> ─▶ category and level of the first? ─┬─ yes ─▶ its site ─▶ record
//   Tag: a type of this call                                               └─ no ─▶ find_more
//
//   find_more ─┬─ nobody has the first yet: it is this one's
//              ├─ found, or room for another (more_sites.hpp)
//              └─ no room: the category becomes an argument (record_shared); else the record is lost
//
// A function cannot distinguish its callers by an argument, since an argument's value is no constant inside.
// But the type of a lambda in a default template argument differs at each call. So a static variable of a
// template of it belongs to that call. The place in the source comes with the template's text, as an object
// that the compiler makes (consteval), and is read once.
//
// A call may be made with several categories or levels (loggers in variables). The site of the first is
// static. Others are made when they first occur, kept for ever and found by their key (more_sites.hpp). When
// there are too many categories, the further ones are an argument of one site (record_shared).
//
// Who makes which transition: the thread that sets `claimed` writes level, file and line of the first site.
// Then it stores `category` (release), and who loads that (acquire) sees them. They are never changed. Two
// threads may make one further site each, which the session registers as the same.
//
// Beyond a macro, a call costs two loads and two comparisons. Further sites begin while less than half of the
// session's table is used: 65,536 / 2 = 32,768. A call with texts of the run time has 64 sites for them.
#pragma once

#include <array>

#include "more_sites.hpp"

SP_DETAIL_BEGIN

namespace {
// Each source file has its own: calls of two files are never mistaken for one.
struct ThisFile {};
}  // namespace

template <class Lambda, class File>
struct CallTag {};

// A template that was checked against the arguments' types, and where it stands.
template <class... Ts>
struct SP_DETAIL_VISIBLE TextAt {
    std::string_view text;
    std::source_location at;
    template <std::size_t Length>
    consteval TextAt(const char (&literal)[Length],
                     std::source_location where = std::source_location::current())
        : text(literal, Length - 1), at(where) {
        check_template<Ts...>(text);
    }
};

// A text that is no template: braces are braces. A literal as a rule; a call that chooses between two, or has
// an array, says another text each time (record_plain).
struct SP_DETAIL_VISIBLE PlainAt {
    std::string_view text;
    std::source_location at;
    bool may_change = false;
    template <std::size_t Length>
    SP_DETAIL_HOT constexpr PlainAt(const char (&literal)[Length],
                                    std::source_location where = std::source_location::current())
        : text(literal, Length - 1), at(where) {}
    template <std::size_t Length>
    SP_DETAIL_HOT constexpr PlainAt(char (&array)[Length],
                                    std::source_location where = std::source_location::current())
        : text(array, Length), at(where), may_change(true) {}

    // Up to the first zero of an array, or its end.
    std::string_view value() const { return text.substr(0, text.find('\0')); }
};

struct CallSite {
    // Compared by its address; null: the first site is not yet anybody's.
    std::atomic<const char*> category{nullptr};
    Site first{Level::kTrace, "", 0};
    std::atomic<bool> claimed{false};
    // The literal that the call says without arguments: its address, once that is known to be one's.
    std::atomic<const char*> literal{nullptr};
};

template <class Tag>
SP_DETAIL_HOT CallSite& call_site() {
    static constinit CallSite site;
    return site;
}

// The category of a call whose own is an argument. Each shared object has one, so it is known by its first
// byte, which is none of UTF-8: no category begins with it.
inline constexpr const char kShared[] = "\xFF";
SP_DETAIL_COLD bool is_shared(const char* category) { return *category == *kShared; }

// Null: there is no room for it, which does not hold for a site that is needed.
SP_DETAIL_COLD Site* find_more(CallSite& call, const char* category, Level level,
                               const std::source_location& at, bool is_needed) {
    if (is_shared(category)) return nullptr;
    // Its fields are written by one thread, before anybody finds it by its category.
    if (!call.claimed.exchange(true, std::memory_order_acq_rel)) {
        call.first.level = level;
        call.first.file = at.file_name();
        call.first.line = at.line();
        call.category.store(category, std::memory_order_release);
        return &call.first;
    }
    return find_more_site({&call, category, level, false}, at, is_needed);
}

// A record that no other site can take.
SP_DETAIL_COLD bool count_as_lost() {
    count_session_loss(Cause::kNoSite);
    return true;
}

// The call's site for a category and a level: two loads and comparisons. The category lives for ever. Null:
// the category is to be an argument.
SP_DETAIL_HOT Site* site_of(CallSite& call, const char* category, Level level, const std::source_location& at,
                            bool is_needed = false) {
    if (call.category.load(std::memory_order_acquire) == category && call.first.level == level) [[likely]]
        return &call.first;
    return find_more(call, category, level, at, is_needed);
}

// False: the category is to be an argument (record_shared). `kIsNeeded`: it cannot be, so that this record is
// lost, and counted, where there is no room for another site. Then the result says whether it is recorded.
template <bool kIsNeeded = false, class... Ts>
SP_DETAIL_HOT bool record_call(CallSite& call, const char* category, Level level, std::string_view text,
                               const std::source_location& at, const Ts&... args) {
    Site* site = site_of(call, category, level, at, kIsNeeded);
    if (site == nullptr) [[unlikely]] {
        if constexpr (kIsNeeded) count_as_lost();
        return false;
    }
    if (!site->is_wanted(at.function_name(), category)) return !kIsNeeded;
    record(*site, Kind::kLog, {}, text, args...);
    return true;
}

// Names of arguments, of which the last alone has one: `logger`, or that of a category that is `by_name`.
inline constexpr std::string_view kByNameArgument = "spdlog_logger";
template <std::size_t kCount, bool kIsByName>
inline constexpr auto kLoggerNames = [] {
    constexpr std::string_view last = kIsByName ? kByNameArgument : "logger";
    std::array<char, kCount + last.size() + 1> names{};
    for (char& c : names) c = '\n';
    std::size_t at = kCount;
    for (const char c : last) names[at++] = c;
    return names;
}();

// A category that is an argument of a site that others share: its category says where lines go. If that is
// `by_name`, the argument says it. (The argument has a name that no field of a context has by chance.)
struct SharedCategory {
    const char* shared;
    std::string_view name;
    bool by_name = false;
};

// Whether directives want it, by its own name, and the site is known. If it cannot be, that is counted.
SP_DETAIL_COLD bool is_shared_on(Site& site, const SharedCategory& category, const std::source_location& at) {
    if (!session.is_ready() && !ensure_session()) return false;
    if (!decide_at_rest({site.level, category.name, site.file, site.line, at.function_name()})) return false;
    if (site.entry.load(std::memory_order_relaxed) != 0xFFFFFFFF) return true;
    const SystemGuard guard;
    const std::uint32_t number = site.enter(at.function_name(), category.shared);
    if (number != kNoMemory && number != kNoRoom) return true;
    count_session_loss(Cause::kNoSite);
    return false;
}

template <class... Ts>
SP_DETAIL_NOINLINE_COLD void record_shared_at(Site& site, const SharedCategory& category,
                                              std::string_view text, const std::source_location& at,
                                              const Ts&... args) {
    constexpr auto& names = kLoggerNames<sizeof...(Ts), false>;
    constexpr auto& by_name = kLoggerNames<sizeof...(Ts), true>;
    if (is_shared_on(site, category, at))
        record(site, Kind::kLog,
               category.by_name ? std::string_view(by_name.data(), by_name.size())
                                : std::string_view(names.data(), names.size()),
               text, args..., category.name);
}

template <class... Ts>
SP_DETAIL_NOINLINE_COLD void record_shared(CallSite& call, const SharedCategory& category, Level level,
                                           std::string_view text, const std::source_location& at,
                                           const Ts&... args) {
    Site* const site = category.shared == nullptr
                           ? nullptr
                           : find_more_site({&call, category.shared, level, false}, at, true);
    if (site != nullptr)
        record_shared_at(*site, category, text, at, args...);
    else
        count_session_loss(Cause::kNoSite);
}

SP_DETAIL_COLD std::uint64_t complete_plain(Site& site, std::string_view text) {
    char doubled[2048];
    std::size_t len = 0;
    for (const char c : text) {
        const std::size_t need = c == '{' || c == '}' ? 2 : 1;
        if (len + need > sizeof doubled) break;
        doubled[len++] = c;
        if (need == 2) doubled[len++] = c;
    }
    return complete_site<>(site, Kind::kLog, {}, {doubled, len});
}

// Another text than the literal that the call had first is a value.
SP_DETAIL_COLD bool is_value(CallSite& call, const PlainAt& text) {
    if (text.may_change || !is_read_only(text.text.data())) return true;
    const char* first = nullptr;
    return !call.literal.compare_exchange_strong(first, text.text.data(), std::memory_order_relaxed) &&
           first != text.text.data();
}

// A call with values has a site of its own for them, beside that of its literal.
SP_DETAIL_COLD bool record_value(CallSite& call, const char* category, Level level, const PlainAt& text,
                                 bool is_needed) {
    Site* const site =
        is_shared(category) ? nullptr : find_more_site({&call, category, level, true}, text.at, is_needed);
    if (site == nullptr) return is_needed && count_as_lost();
    if (site->is_wanted(text.at.function_name(), category)) record(*site, Kind::kLog, {}, "{}", text.value());
    return true;
}

// `is_needed` and false: as of record_call.
SP_DETAIL_HOT bool record_plain(CallSite& call, const char* category, Level level, const PlainAt& text,
                                bool is_needed = false) {
    if (call.literal.load(std::memory_order_relaxed) != text.text.data()) [[unlikely]]
        if (is_value(call, text)) return record_value(call, category, level, text, is_needed);
    Site* site = site_of(call, category, level, text.at, is_needed);
    if (site == nullptr) [[unlikely]]
        return is_needed && count_as_lost();
    if (!site->is_wanted(text.at.function_name(), category)) return true;
    std::uint64_t head = site->head.load(std::memory_order_relaxed);
    if (is_no_head(head)) [[unlikely]]
        head = complete_plain(*site, text.value());
    if (head != 0) record_completed(head, *site);
    return true;
}

// A template that is known only at run time, unchecked. What does not fit its arguments is shown as it
// stands, with the arguments behind it.
struct SP_DETAIL_VISIBLE RuntimeText {
    std::string_view text;
    std::source_location at;
};

// A site of a call for one text. Made when the text first occurs, and kept for ever.
struct RuntimeSite {
    const char* category;
    std::string_view text;
    Site site;
    RuntimeSite* next;
};
struct RuntimeSites {
    std::atomic<RuntimeSite*> all{nullptr};
    std::atomic<unsigned> count{0};
};
// A call with more texts than this has them as values of one site: it makes them.
inline constexpr unsigned kRuntimeTexts = 64;

template <class Tag>
SP_DETAIL_HOT RuntimeSites& runtime_sites() {
    static constinit RuntimeSites sites;
    return sites;
}

// Null: there are too many texts.
SP_DETAIL_COLD RuntimeSite* find_runtime(RuntimeSites& sites, const char* category, Level level,
                                         const RuntimeText& text) {
    RuntimeSite* head = sites.all.load(std::memory_order_acquire);
    for (RuntimeSite* one = head; one != nullptr; one = one->next)
        if (one->category == category && one->site.level == level && one->text == text.text) return one;
    if (sites.count.fetch_add(1, std::memory_order_relaxed) >= kRuntimeTexts) {
        sites.count.store(kRuntimeTexts, std::memory_order_relaxed);
        return nullptr;
    }
    auto* const memory = static_cast<char*>(keep_memory(sizeof(RuntimeSite) + text.text.size()));
    if (memory == nullptr) return nullptr;
    char* const kept = memory + sizeof(RuntimeSite);
    SP_DETAIL_MEMCPY(kept, text.text.data(), text.text.size());
    // Two threads may make one each: they are registered as the same.
    auto* const made = ::new (memory) RuntimeSite{
        category, {kept, text.text.size()}, Site(level, text.at.file_name(), text.at.line()), head};
    while (!sites.all.compare_exchange_weak(made->next, made, std::memory_order_acq_rel)) continue;
    return made;
}

// False: as of record_call.
template <class... Ts>
bool record_runtime(RuntimeSites& sites, CallSite& call, const char* category, Level level,
                    const RuntimeText& text, const Ts&... args) {
    if (is_shared(category)) return false;
    RuntimeSite* found = find_runtime(sites, category, level, text);
    if (found == nullptr) return record_call(call, category, level, "{}", text.at, text.text, args...);
    if (found->site.is_wanted(text.at.function_name(), category))
        record(found->site, Kind::kLog, {}, found->text, args...);
    return true;
}

template <class... Ts>
void record_runtime_shared(RuntimeSites& sites, CallSite& call, const SharedCategory& category, Level level,
                           const RuntimeText& text, const Ts&... args) {
    RuntimeSite* found =
        category.shared == nullptr ? nullptr : find_runtime(sites, category.shared, level, text);
    if (found != nullptr)
        record_shared_at(found->site, category, found->text, text.at, args...);
    else
        record_shared(call, category, level, "{}", text.at, text.text, args...);
}

// What is not a literal: a message of its own.
template <class T>
inline constexpr bool kIsMessage =
    !(std::is_array_v<T> &&
      Character<std::remove_cv_t<std::remove_extent_t<T>>>)&&!std::same_as<T, RuntimeText>;

SP_DETAIL_END

// A default template argument that is another type at each call.
#define SP_DETAIL_THIS_CALL ::silverpoint::detail::CallTag<decltype([] {}), ::silverpoint::detail::ThisFile>
