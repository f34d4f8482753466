// A message that a sink of the program receives. For messages without a record, kept or made by a sink, it
// also makes the line by spdlog's flags (silverpoint/spdlog.hpp).
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../logger.h"
#include "mdc.hpp"
#include "sinks.hpp"

namespace spdlog {

// What log(place, level, …) is given; the place of a record is that of the call.
// Thread-safe: any thread may read it. Cost: none.
struct source_loc {
    const char* filename = nullptr;
    int line = 0;
    const char* funcname = nullptr;
    [[nodiscard]] constexpr bool empty() const noexcept { return line <= 0; }
};

// What a formatter writes into.
// Thread-safe: one thread at a time. Cost: that of a std::string.
class memory_buf_t : public std::string {
  public:
    using std::string::append;
    void append(const char* begin, const char* end) { std::string::append(begin, end); }
};

using log_clock = std::chrono::system_clock;

namespace details {

struct log_msg {
    log_msg() = default;
    log_msg(log_clock::time_point at, source_loc place, string_view_t name, level::level_enum of,
            string_view_t text)
        : logger_name(name), level(of), time(at), thread_id(number_()), source(place), payload(text) {}
    log_msg(source_loc place, string_view_t name, level::level_enum of, string_view_t text)
        : log_msg(log_clock::now(), place, name, of, text) {}
    log_msg(string_view_t name, level::level_enum of, string_view_t text)
        : log_msg(source_loc{}, name, of, text) {}

    string_view_t logger_name;
    level::level_enum level = level::off;
    log_clock::time_point time;
    std::size_t thread_id = 0;
    source_loc source;
    string_view_t payload;
    // What the pattern's %^ and %$ enclose of the line.
    mutable std::size_t color_range_start = 0;
    mutable std::size_t color_range_end = 0;
    // The record, until the sink returns; null for a message that the program has made or kept.
    const silverpoint_event* event_ = nullptr;

  private:
    static std::size_t number_() { return static_cast<std::size_t>(syscall(SYS_gettid)); }
};

// A message with texts of its own, for later.
class log_msg_buffer : public log_msg {
  public:
    log_msg_buffer() = default;
    explicit log_msg_buffer(const log_msg& msg) : log_msg(msg) { own(); }
    log_msg_buffer(const log_msg_buffer& other) : log_msg(other) { own(); }
    log_msg_buffer& operator=(const log_msg_buffer& other) {
        if (this != &other) {
            log_msg::operator=(other);
            own();
        }
        return *this;
    }

  private:
    void own() {
        event_ = nullptr;
        auto texts = std::make_shared<Texts>();
        texts->name = logger_name;
        texts->payload = payload;
        texts->file = source.filename == nullptr ? "" : source.filename;
        texts->function = source.funcname == nullptr ? "" : source.funcname;
        logger_name = texts->name;
        payload = texts->payload;
        source.filename = source.filename == nullptr ? nullptr : texts->file.c_str();
        source.funcname = source.funcname == nullptr ? nullptr : texts->function.c_str();
        texts_ = std::move(texts);
    }
    struct Texts {
        std::string name, payload, file, function;
    };
    std::shared_ptr<const Texts> texts_;
};

// The width of a flag's text: %8l, %-8l, %=8l; with ! behind the number the text is cut to it.
struct padding_info {
    enum class pad_side { left, right, center };
    std::size_t width_ = 0;
    pad_side side_ = pad_side::left;
    bool truncate_ = false;
    bool enabled_ = false;
    [[nodiscard]] bool enabled() const { return enabled_; }
};

class flag_formatter {
  public:
    flag_formatter() = default;
    explicit flag_formatter(padding_info padding) : padinfo_(padding) {}
    virtual ~flag_formatter() = default;
    virtual void format(const log_msg& msg, const std::tm& time, memory_buf_t& dest) = 0;

  protected:
    padding_info padinfo_;
};

}  // namespace details

// A flag of the program's own.
// Thread-safe: called by one thread at a time, with the sink's lock held. Cost: the program's own.
class custom_flag_formatter : public details::flag_formatter {
  public:
    [[nodiscard]] virtual std::unique_ptr<custom_flag_formatter> clone() const = 0;
    void set_padding_info(const details::padding_info& padding) { padinfo_ = padding; }
};

namespace details {

using custom_flags_ = std::unordered_map<char, std::unique_ptr<custom_flag_formatter>>;
// Stands for the flags of a pattern, in its order. Each place has its own, from line to line.
using custom_places_ = std::vector<std::unique_ptr<custom_flag_formatter>>;

// One line, without its end.
class line_ {
  public:
    line_(const log_msg& msg, const custom_flags_& custom, custom_places_& places,
          log_clock::time_point before, bool is_utc, bool needs_time)
        : msg_(msg), custom_(custom), places_(places), before_(before), needs_time_(needs_time) {
        const std::time_t seconds = log_clock::to_time_t(msg.time);
        if (is_utc) {
            gmtime_r(&seconds, &time_);
        } else {
            localtime_r(&seconds, &time_);
        }
        // Downwards, before 1970 too.
        nanoseconds_ = std::chrono::duration_cast<std::chrono::nanoseconds>(
                           msg.time - std::chrono::floor<std::chrono::seconds>(msg.time))
                           .count();
    }
    void write(string_view_t pattern, memory_buf_t& out) {
        std::size_t place = 0;
        const std::size_t begin = out.size();
        for (std::size_t at = 0; at < pattern.size(); ++at) {
            if (pattern[at] != '%') {
                out += pattern[at];
                continue;
            }
            if (++at == pattern.size()) return;
            padding_info padding = padding_at(pattern, at);
            if (at == pattern.size()) return;
            if (const auto own = custom_.find(pattern[at]); own != custom_.end()) {
                if (place == places_.size()) {
                    places_.push_back(own->second->clone());
                    places_.back()->set_padding_info(padding);
                }
                // It handles its width itself.
                places_[place++]->format(msg_, needs_time_ || shows_time(pattern) ? time_ : std::tm{}, out);
                continue;
            }
            if (pattern[at] == '^') msg_.color_range_start = out.size() - begin;
            if (pattern[at] == '$') msg_.color_range_end = out.size() - begin;
            memory_buf_t text;
            if (!flag(pattern[at], text) && padding.truncate_) {
                // %10!] is the function, padded.
                padding.truncate_ = false;
                text.clear();
                this->place('!', text);
                pad(text, padding);
                (out += text) += pattern[at];
                continue;
            }
            pad(text, padding);
            out += text;
        }
    }

  private:
    static constexpr std::size_t kWidest = 64;

    // As spdlog: the calendar is asked only when the pattern has something of it.
    static bool shows_time(string_view_t pattern) {
        for (std::size_t at = 0; at + 1 < pattern.size(); ++at)
            if (pattern[at] == '%' &&
                string_view_t("+aAbBhcCYDxmdHIMSprRTXz").find(pattern[++at]) != string_view_t::npos)
                return true;
        return false;
    }
    static padding_info padding_at(string_view_t pattern, std::size_t& at) {
        padding_info padding;
        const std::size_t begin = at;
        if (pattern[at] == '-' || pattern[at] == '=') {
            padding.side_ =
                pattern[at] == '-' ? padding_info::pad_side::right : padding_info::pad_side::center;
            ++at;
        }
        const std::size_t digits = at;
        for (; at < pattern.size() && pattern[at] >= '0' && pattern[at] <= '9'; ++at)
            if (padding.width_ < kWidest)
                padding.width_ = padding.width_ * 10 + static_cast<std::size_t>(pattern[at] - '0');
        if (at == digits) {
            at = begin == digits ? begin : digits;
            return {};
        }
        padding.enabled_ = true;
        if (padding.width_ > kWidest) padding.width_ = kWidest;
        if (at < pattern.size() && pattern[at] == '!') {
            padding.truncate_ = true;
            ++at;
        }
        return padding;
    }
    static void pad(memory_buf_t& text, const padding_info& padding) {
        if (!padding.enabled()) return;
        if (text.size() < padding.width_) {
            const std::size_t missing = padding.width_ - text.size();
            const std::size_t before = padding.side_ == padding_info::pad_side::left    ? missing
                                       : padding.side_ == padding_info::pad_side::right ? 0
                                                                                        : missing / 2;
            text.insert(0, before, ' ');
            text.append(missing - before, ' ');
        } else if (padding.truncate_) {
            text.resize(padding.width_);
        }
    }
    void time(memory_buf_t& out, const char* format) const {
        char text[64];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        out.append(text, std::strftime(text, sizeof text, format, &time_));
#pragma GCC diagnostic pop
    }
    static void number(memory_buf_t& out, long long value, int width) {
        char text[32];
        out.append(text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%0*lld", width, value)));
    }
    template <class Unit>
    void since(memory_buf_t& out) const {
        const auto passed = msg_.time > before_ ? msg_.time - before_ : log_clock::duration::zero();
        number(out, static_cast<long long>(std::chrono::duration_cast<Unit>(passed).count()), 1);
    }
    void place(char which, memory_buf_t& out) const {
        if (msg_.source.line <= 0 || msg_.source.filename == nullptr) return;
        const string_view_t file = msg_.source.filename;
        if (which == '@') {
            out.append(file).append(":");
            number(out, msg_.source.line, 1);
        } else if (which == 's') {
            out.append(file.substr(file.rfind('/') + 1));
        } else if (which == 'g') {
            out.append(file);
        } else if (which == '#') {
            number(out, msg_.source.line, 1);
        } else if (msg_.source.funcname != nullptr) {
            out.append(msg_.source.funcname);
        }
    }
    // In English, in every locale of the program, as in spdlog.
    void day(memory_buf_t& out, bool is_whole) const {
        constexpr string_view_t names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                           "Thursday", "Friday", "Saturday"};
        const string_view_t name = names[time_.tm_wday];
        out.append(is_whole ? name : name.substr(0, 3));
    }
    void month(memory_buf_t& out, bool is_whole) const {
        constexpr string_view_t names[] = {"January",   "February", "March",    "April",
                                           "May",       "June",     "July",     "August",
                                           "September", "October",  "November", "December"};
        const string_view_t name = names[time_.tm_mon];
        out.append(is_whole ? name : name.substr(0, 3));
    }
    void half_of_day(memory_buf_t& out) const { out.append(time_.tm_hour >= 12 ? "PM" : "AM"); }
    // False: there is no such flag, and it is shown as it stands.
    bool flag(char which, memory_buf_t& out) {
        if (string_view_t("+nvlLtPaAbhBcCYDxmdHIMSprRTXzefFEuioO@sg#!^$&%").find(which) ==
            string_view_t::npos) {
            (out += '%') += which;
            return false;
        }
        known(which, out);
        return true;
    }
    void known(char which, memory_buf_t& out) {
        switch (which) {
            case '+':
                time(out, "[%Y-%m-%d %H:%M:%S.");
                number(out, nanoseconds_ / 1'000'000, 3);
                out.append("] [");
                if (!msg_.logger_name.empty()) out.append(msg_.logger_name).append("] [");
                out.append(level::to_string_view(msg_.level)).append("] ").append(msg_.payload);
                return;
            case 'n':
                out.append(msg_.logger_name);
                return;
            case 'v':
                out.append(msg_.payload);
                return;
            case 'l':
                out.append(level::to_string_view(msg_.level));
                return;
            case 'L':
                out.append(level::to_short_c_str(msg_.level));
                return;
            case 't':
                return number(out, static_cast<long long>(msg_.thread_id), 1);
            case 'P':
                return number(out, getpid(), 1);
            case 'a':
                return day(out, false);
            case 'A':
                return day(out, true);
            case 'b':
            case 'h':
                return month(out, false);
            case 'B':
                return month(out, true);
            case 'c':
                day(out, false);
                out += ' ';
                month(out, false);
                out += ' ';
                number(out, time_.tm_mday, 1);
                return time(out, " %H:%M:%S %Y");
            case 'C':
                return time(out, "%y");
            case 'Y':
                return time(out, "%Y");
            case 'D':
            case 'x':
                return time(out, "%m/%d/%y");
            case 'm':
                return time(out, "%m");
            case 'd':
                return time(out, "%d");
            case 'H':
                return time(out, "%H");
            case 'I':
                return time(out, "%I");
            case 'M':
                return time(out, "%M");
            case 'S':
                return time(out, "%S");
            case 'p':
                return half_of_day(out);
            case 'r':
                time(out, "%I:%M:%S ");
                return half_of_day(out);
            case 'R':
                return time(out, "%H:%M");
            case 'T':
            case 'X':
                return time(out, "%H:%M:%S");
            case 'z': {
                memory_buf_t zone;
                time(zone, "%z");  // +hhmm
                if (zone.size() == 5) zone.insert(3, ":");
                out.append(zone);
                return;
            }
            case 'e':
                return number(out, nanoseconds_ / 1'000'000, 3);
            case 'f':
                return number(out, nanoseconds_ / 1000, 6);
            case 'F':
                return number(out, nanoseconds_, 9);
            case 'E':
                return number(out, static_cast<long long>(log_clock::to_time_t(msg_.time)), 1);
            case 'u':
                return since<std::chrono::nanoseconds>(out);
            case 'i':
                return since<std::chrono::microseconds>(out);
            case 'o':
                return since<std::chrono::milliseconds>(out);
            case 'O':
                return since<std::chrono::seconds>(out);
            case '@':
            case 's':
            case 'g':
            case '#':
            case '!':
                return place(which, out);
            case '^':
            case '$':
                return;
            case '&':
                return mdc::append_(out);
            case '%':
                out += '%';
                return;
            default:
                return;
        }
    }

    const log_msg& msg_;
    const custom_flags_& custom_;
    custom_places_& places_;
    log_clock::time_point before_;
    bool needs_time_;
    std::tm time_{};
    long long nanoseconds_ = 0;
};

struct null_mutex {
    void lock() {}
    void unlock() {}
};

}  // namespace details

enum class pattern_time_type { local, utc };

// Thread-safe: called by one thread at a time, with the sink's lock held. Cost: the program's own.
class formatter {
  public:
    virtual ~formatter() = default;
    virtual void format(const details::log_msg& msg, memory_buf_t& dest) = 0;
    [[nodiscard]] virtual std::unique_ptr<formatter> clone() const = 0;
    // The flags that include all of it: then a sink that the library writes can do the same.
    [[nodiscard]] virtual const std::string* pattern_() const { return nullptr; }
};

[[noreturn]] inline void refuse_formatter_() {
    SP_DETAIL_THROW(
        spdlog_ex("silverpoint: what the logger inside the process writes has a pattern, no formatter"));
}
// spdlog's flags (docs/guide/from-spdlog.md), those of the program, and a line end.
// Thread-safe: one thread at a time, by the sink's lock. Cost: formats a line, and allocates.
class pattern_formatter final : public formatter {
  public:
    using custom_flags = details::custom_flags_;

    explicit pattern_formatter(std::string pattern, pattern_time_type time = pattern_time_type::local,
                               std::string eol = "\n", custom_flags custom = {})
        : said_(std::move(pattern)),
          silver_("spdlog:" + said_),
          eol_(std::move(eol)),
          is_utc_(time == pattern_time_type::utc),
          custom_(std::move(custom)) {}
    explicit pattern_formatter(pattern_time_type time = pattern_time_type::local, std::string eol = "\n")
        : pattern_formatter("%+", time, std::move(eol)) {}

    template <class T, class... Args>
    pattern_formatter& add_flag(char flag, Args&&... args) {
        custom_[flag] = std::make_unique<T>(std::forward<Args>(args)...);
        places_.clear();
        return *this;
    }
    // Flags of the program's own get the time, even if the pattern shows nothing else of it.
    void need_localtime(bool is_needed = true) { needs_time_ = is_needed; }
    void set_pattern(std::string pattern) {
        said_ = std::move(pattern);
        silver_ = "spdlog:" + said_;
        places_.clear();
    }
    void format(const details::log_msg& msg, memory_buf_t& dest) override {
        if (msg.event_ == nullptr || !custom_.empty() || is_utc_) {
            details::line_(msg, custom_, places_, last_.time_since_epoch().count() == 0 ? msg.time : last_,
                           is_utc_, needs_time_)
                .write(said_, dest);
            last_ = msg.time;
        } else {
            const std::size_t begin = dest.size();
            dest.resize(begin + 256);
            std::size_t size = line(msg, dest.data() + begin, 256);
            if (size > 256) {
                dest.resize(begin + size);
                size = line(msg, dest.data() + begin, size);
            }
            dest.resize(begin + size);
        }
        dest.append(eol_);
    }
    [[nodiscard]] std::unique_ptr<formatter> clone() const override {
        custom_flags custom;
        for (const auto& [flag, one] : custom_) custom[flag] = one->clone();
        return std::make_unique<pattern_formatter>(
            said_, is_utc_ ? pattern_time_type::utc : pattern_time_type::local, eol_, std::move(custom));
    }
    [[nodiscard]] const std::string* pattern_() const override {
        return custom_.empty() && eol_ == "\n" && !is_utc_ ? &said_ : nullptr;
    }

  private:
    std::size_t line(const details::log_msg& msg, char* at, std::size_t size) const {
        const std::size_t found = silverpoint_event_line(msg.event_, silver_.c_str(), at, size);
        return found == static_cast<std::size_t>(-1) ? 0 : found;
    }
    std::string said_, silver_, eol_;
    bool is_utc_ = false, needs_time_ = false;
    custom_flags custom_;
    details::custom_places_ places_;
    log_clock::time_point last_;
};

}  // namespace spdlog
