// What the macros expand to: a site, then a call or a stream, or a span.
//
//   SP_INFO("x {}", x)  ─▶ is the site on? ─▶ Sink & Line("x {}", x)   ─▶ record           one record
//   SP_INFO << a << b   ─▶ is the site on? ─▶ Sink & (Line << a << b)  ─▶ record_stream    one record
//   SP_EVENT("n", x)    ─▶ is the site on? ─▶ record_given             ─▶ record_named     one record
//   SP_SPAN("n", x)     ─▶ is the site on? ─▶ record_given, then Span  ─▶ end of scope     two records
//                              └─ no: nothing is evaluated
//
// The form decides what the site says from its first record on: a template, or a name with the arguments'
// names. Beside head and ticks a record holds the arguments alone, in every form.
//
// The end of a span is a control record of 32 bytes. Head and ticks take 16, the site's id 4, the ticks of
// the begin 8; then it is rounded up. So the end needs no site of its own, and no record has the name.
//
// A statement is code in the program. With two numbers it takes 350 bytes as a template, 479 as a stream (g++
// 12, -O2; docs/budgets.md). So everything that is cold is called, and only the hot path stands at the call.
#pragma once

#include "listed.hpp"
#include "stream.hpp"
#include "template.hpp"

SP_DETAIL_BEGIN

#define SP_DETAIL_CATEGORY_OF_SCOPE only_one_SP_CATEGORY_in_a_scope_others_in_a_namespace_class_or_block_

// A category as a type, so that one declaration serves in every scope (SP_CATEGORY).
struct Here {};

template <std::size_t Length>
struct SP_DETAIL_VISIBLE FixedText {
    char text[Length];
    consteval FixedText(const char (&from)[Length]) {
        for (std::size_t i = 0; i < Length; ++i) text[i] = from[i];
    }
};

template <FixedText kName>
struct Category {
    // Unlike the argument's own it has an address that is known within a shared library.
    static constexpr FixedText kText = kName;
    constexpr explicit Category(Here) {}
    constexpr operator const char*() const { return kText.text; }
};

constexpr const char* SP_DETAIL_CATEGORY_OF_SCOPE(Here) { return ""; }

constexpr bool is_compiled(Level level, int least) { return static_cast<int>(level) >= least; }

// The right-hand side of what a macro begins: `Sink{} & start(...)("template", args)` or `Sink{} & start(...)
// << a << b`. The operator binds less tightly than both, so it gets the whole.
struct SP_DETAIL_VISIBLE Done {};

struct SP_DETAIL_VISIBLE Sink {
    SP_DETAIL_HOT void operator&(Done) const {}
    template <class Before, class Piece>
    SP_DETAIL_HOT void operator&(const Stream<Before, Piece>& stream) const {
        record_stream(stream);
    }
};

struct SP_DETAIL_VISIBLE Line {
    StreamSite& site;

    SP_DETAIL_HOT Done operator()(Template<> text) const {
        record(site.site, Kind::kLog, {}, text.text);
        return {};
    }
    template <class Before, class T>
    SP_DETAIL_HOT Done operator()(typename Given<Before, T>::template Text<Template> text,
                                  const Given<Before, T>& given) const {
        with_given(given, [&]<class... Ts>(const Ts&... args) SP_DETAIL_HOT_LAMBDA {
            record<Ts...>(site.site, Kind::kLog, {}, text.text, args...);
        });
        return {};
    }
    template <std::size_t Length>
    SP_DETAIL_HOT Stream<Nothing, Literal> operator<<(const char (&text)[Length]) const {
        return {site, {}, {text, Length}};
    }
    template <class T>
        requires(Small<T>)
    SP_DETAIL_HOT Stream<Nothing, T> operator<<(T value) const {
        return {site, {}, value};
    }
    template <class T>
        requires(!Small<T>)
    SP_DETAIL_HOT Stream<Nothing, typename Passed<std::remove_volatile_t<T>>::type> operator<<(
        const T& value) const {
        return {site, {}, value};
    }
};

// What a macro ends with. The members are macros, too (silverpoint.hpp): before a parenthesis those list the
// template and go on with at(); otherwise a stream begins.
struct SP_DETAIL_VISIBLE Start {
    Line SP_DETAIL_TEXT;
    SP_DETAIL_HOT const Line& at(int) const { return SP_DETAIL_TEXT; }
};
struct SP_DETAIL_VISIBLE StartTo {
    Line SP_DETAIL_TEXT_TO;
    SP_DETAIL_HOT const Line& at(int) const { return SP_DETAIL_TEXT_TO; }
};

// Names of the arguments, from their source: split at commas outside of brackets and quotes, each ended by a
// line end. An angle bracket is an operator, unless that makes more names than arguments.
class Names {
  public:
    Names(std::string_view source, std::size_t count) {
        if (split(source, false) != count) split(source, true);
    }
    std::string_view text() const { return {text_, len_}; }

  private:
    std::size_t split(std::string_view source, bool angles) {
        len_ = begin_ = 0;
        if (source.empty()) return 0;
        std::size_t names = 1;
        int depth = 0;
        char quote = 0;
        bool any = false;
        for (std::size_t i = 0; i < source.size(); ++i) {
            const char c = source[i];
            if (quote != 0) {
                if (c == '\\' && i + 1 < source.size()) {
                    put(c);
                    put(source[++i]);
                    continue;
                }
                if (c == quote) quote = 0;
            } else if (c == '"' || (c == '\'' && !is_digit_before(source, i))) {
                quote = c;
            } else if (c == '(' || c == '[' || c == '{' || (angles && c == '<')) {
                ++depth;
            } else if (c == ')' || c == ']' || c == '}' || (angles && c == '>' && depth > 0)) {
                --depth;
            } else if (c == ',' && depth == 0) {
                end();
                ++names;
                any = false;
                continue;
            } else if (c == ' ' && !any) {
                continue;
            }
            any = true;
            put(c);
        }
        end();
        return names;
    }
    // 1'000'000 holds no characters.
    static bool is_digit_before(std::string_view source, std::size_t at) {
        if (at == 0) return false;
        const char c = source[at - 1];
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    }
    void put(char c) {
        if (len_ < sizeof text_) text_[len_++] = c == '\n' ? ' ' : c;
    }
    void end() {
        while (len_ > 0 && text_[len_ - 1] == ' ') --len_;
        unwrap();
        if (len_ < sizeof text_) text_[len_++] = '\n';
    }
    // What SP_HEX(x) and its like expand to is named x.
    void unwrap() {
        constexpr std::string_view kWrapper = "::silverpoint::detail::wrap_";
        const std::string_view name(text_ + begin_, len_ - begin_);
        if (begins_with(name, kWrapper) && name.ends_with(')')) {
            std::size_t from = kWrapper.size();
            for (bool quoted = false; from < name.size() && (quoted || name[from] != '('); ++from)
                if (name[from] == '"' && name[from - 1] != '\\') quoted = !quoted;
            const std::size_t size = name.size() - from - 2;
            SP_DETAIL_MEMMOVE(text_ + begin_, name.data() + from + 1, size);
            len_ = begin_ + size;
            unwrap();
        }
        begin_ = len_ + 1;
    }
    char text_[2047];
    std::size_t len_ = 0, begin_ = 0;
};

SP_DETAIL_COLD std::uint64_t complete_named_signed(Site& site, Kind kind, std::string_view name,
                                                   std::string_view source, std::size_t count,
                                                   const Signed& types) {
    if (site.whole.load(std::memory_order_acquire) != 0) return complete_signed(site, kind, {}, {}, types);
    const Names names(source, count);
    return complete_signed(site, kind, names.text(), name, types);
}
template <class... Ts>
SP_DETAIL_COLD std::uint64_t complete_named(Site& site, Kind kind, std::string_view name,
                                            std::string_view source) {
    return complete_named_signed(site, kind, name, source, sizeof...(Ts), kSigned<Ts...>);
}

// Events, instants, counters, spans: a name and arguments named after their source.
template <class... Ts>
SP_DETAIL_HOT std::uint64_t record_named(Site& site, Kind kind, std::string_view name,
                                         std::string_view source, const Ts&... args) {
    const auto complete = [&]() SP_DETAIL_HOT_LAMBDA {
        return complete_named<Ts...>(site, kind, name, source);
    };
    return record_by(complete, site, kind, args...);
}
template <class Arguments>
SP_DETAIL_HOT std::uint64_t record_given(Site& site, Kind kind, std::string_view name,
                                         std::string_view source, const Arguments& given) {
    return with_given(given, [&]<class... Ts>(const Ts&... args) SP_DETAIL_HOT_LAMBDA {
        return record_named<Ts...>(site, kind, name, source, args...);
    });
}

SP_DETAIL_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// A span of time in one thread: begins when it is made by SP_SPAN, ends with its scope. Costs two records;
// nothing when its site is off.
class SP_DETAIL_VISIBLE Span {
  public:
    Span() = default;
    SP_DETAIL_HOT Span(detail::Site& site, std::uint64_t ticks) : site_(&site), ticks_(ticks) {}
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    SP_DETAIL_HOT ~Span() {
        // Below 0: a system tracer may want its end.
        if (static_cast<std::int64_t>(ticks_) <= 0) [[unlikely]] {
            if (ticks_ != 0) detail::end_probed_span(detail::place_at<detail::Site>(site_), ticks_, kEnd);
            return;
        }
        detail::Site& site = detail::place_at<detail::Site>(site_);
        detail::record_captured(kEnd, site, site.id(), ticks_);
    }

  private:
    // A control record: the span's id, the ticks of its beginning.
    static constexpr std::uint64_t kEnd =
        std::uint64_t{detail::kSiteSpanEnd} << 32 | detail::head_size<std::uint32_t, std::uint64_t>();
    void* site_ = nullptr;  // without its type, which is hidden
    std::uint64_t ticks_ = 0;
};

// Prepares the calling thread: its first record then costs as much as any other. Does nothing without a
// session.
inline void prepare_thread() {
    using namespace detail;
    if (!ensure_session() || is_ready(tls_lane)) return;
    const Reservation found = reserve({nullptr, stack_mark(SP_DETAIL_FRAME_ADDRESS())}, 64, Level::kInfo);
    if (found.at == nullptr) return;
    SP_DETAIL_MEMSET(found.at, 0, 64);  // touches what the first records will use
    make_ready(found.lane);
}

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint
