// Reads records, for C++: from trace files, compressed and rotated ones too, and from running programs. Link
// silverpoint::logger (CMake) or -lsilverpoint.
//
//     silverpoint::reading::reader trace("app.silver");
//     trace.filter("-l warn");                                  // as silverpoint cat takes it
//     for (const auto& record : trace.read(trace.grow_all() / 2, 100))
//         std::cout << record.message() << '\n';
//
// Records have numbers from 0, in order of time; grow assigns them, and goes on as files grow. Any record is
// found by its number in the time that reading a few thousand takes. The memory needed is that of an index,
// not of records. Functions of one reader may be called from several threads: they wait for one another.
//
// Functions throw reading::error. For programs without exceptions each has a variant with an error text as
// its last argument, which stays unchanged on success.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "silverpoint/reader.h"

namespace silverpoint::reading {

/// Why something cannot be read: what, where, what to do. `code()` is one of reader.h's results.
/// Thread-safe: any thread may read it. Cost: to make one, a copy of the text.
class error : public std::runtime_error {
  public:
    error(int code, const std::string& what) : std::runtime_error(what), code_(code) {}
    [[nodiscard]] int code() const noexcept { return code_; }

  private:
    int code_;
};

enum class level { trace, debug, info, warn, error, fatal };

/// "trace", "debug", … of any number.
/// Thread-safe: any thread. Cost: a load.
[[nodiscard]] constexpr std::string_view name_of(level of) noexcept {
    constexpr std::string_view names[] = {"trace", "debug", "info", "warn", "error", "fatal"};
    const auto at = static_cast<std::size_t>(of);
    return at < std::size(names) ? names[at] : std::string_view("?");
}

enum class kind {
    null = SILVERPOINT_NULL,
    boolean = SILVERPOINT_BOOL,
    integer = SILVERPOINT_INT,
    natural = SILVERPOINT_UINT,
    big = SILVERPOINT_BIG,
    number = SILVERPOINT_FLOAT,
    character = SILVERPOINT_CHAR,
    pointer = SILVERPOINT_POINTER,
    text = SILVERPOINT_TEXT,
    bytes = SILVERPOINT_BYTES,
    uuid = SILVERPOINT_UUID,
    time = SILVERPOINT_TIME,
    duration = SILVERPOINT_DURATION,
    enumeration = SILVERPOINT_ENUMERATION,
    list = SILVERPOINT_LIST,
    set = SILVERPOINT_SET,
    tuple = SILVERPOINT_TUPLE,
    map = SILVERPOINT_MAP,
    structure = SILVERPOINT_STRUCT
};

/// How something is opened.
struct options {
    bool only = false;    ///< exactly the files named, not the other parts of a rotated trace
    bool follow = false;  ///< files grow, and are rotated, while they are read
    bool utc = false;     ///< times of day in filters are UTC, not local
};

/// Whether there are more to be numbered.
enum class state { finished = SILVERPOINT_FINISHED, more = SILVERPOINT_MORE, waiting = SILVERPOINT_WAITING };

namespace detail {
inline std::string_view view(const silverpoint_text& text) noexcept { return {text.data, text.size}; }

// For threads that read for others. A failure may be temporary (no file handle is left, a server does not
// answer). So reading is tried again, at growing intervals, for some 40 seconds.
class tries {
  public:
    // Whether this failure differs from the last one.
    bool is_new(const std::string& error) { return std::exchange(last_, error) != error; }
    // After a failure: how long until the next try. Nothing: no more tries.
    std::optional<std::chrono::milliseconds> again() {
        if (++count_ > most) return std::nullopt;
        const auto pause = pause_;
        pause_ = std::min<std::chrono::milliseconds>(pause_ * 2, std::chrono::seconds(10));
        return pause;
    }

  private:
    static constexpr int most = 11;
    int count_ = 0;
    std::chrono::milliseconds pause_{50};
    std::string last_;
};
}  // namespace detail

class values;

/// One value: an argument, a field, or something within one. Refers to its records.
/// Thread-safe: any thread may read it. Cost: a pointer; its functions read what is there, and allocate
/// nothing.
class value {
  public:
    explicit value(const silverpoint_value& of) noexcept : of_(&of) {}

    [[nodiscard]] reading::kind kind() const noexcept { return static_cast<reading::kind>(of_->kind); }
    [[nodiscard]] std::string_view name() const noexcept { return detail::view(of_->name); }
    /// For people: a text itself, the beginning of a container.
    [[nodiscard]] std::string_view text() const noexcept { return detail::view(of_->text); }
    /// For bytes and UUIDs.
    [[nodiscard]] std::string_view bytes() const noexcept { return detail::view(of_->bytes); }
    /// Name of a structure or an enumeration.
    [[nodiscard]] std::string_view type() const noexcept { return detail::view(of_->type); }
    [[nodiscard]] std::string_view unit() const noexcept { return detail::view(of_->unit); }
    /// Elements, or bytes of a text, that were cut.
    [[nodiscard]] std::uint32_t missing() const noexcept { return of_->missing; }

    /// The number, for integers, times and durations (nanoseconds), and enumerations. Nothing for other
    /// kinds, or if it does not fit.
    [[nodiscard]] std::optional<std::int64_t> as_integer() const noexcept {
        switch (kind()) {
            case reading::kind::integer:
            case reading::kind::time:
            case reading::kind::duration:
            case reading::kind::enumeration:
                return of_->number.i;
            case reading::kind::boolean:
            case reading::kind::natural:
            case reading::kind::character:
            case reading::kind::pointer:
                if (of_->number.u <= INT64_MAX) return static_cast<std::int64_t>(of_->number.u);
                return std::nullopt;
            default:
                return std::nullopt;
        }
    }
    /// For kinds that have a number, as near as a double comes.
    [[nodiscard]] std::optional<double> as_number() const noexcept {
        if (kind() == reading::kind::number) return of_->number.f;
        if (kind() == reading::kind::natural) return static_cast<double>(of_->number.u);
        if (const auto integer = as_integer()) return static_cast<double>(*integer);
        return std::nullopt;
    }

    /// The values within it.
    [[nodiscard]] values children() const noexcept;
    [[nodiscard]] const silverpoint_value& raw() const noexcept { return *of_; }

  private:
    const silverpoint_value* of_;
};

/// Values beside one another.
/// Thread-safe: any thread may read it. Cost: a pointer and a count; find reads the values before the one it
/// finds.
class values {
  public:
    values(const silverpoint_value* first, std::uint32_t count) noexcept : first_(first), count_(count) {}

    class iterator {
      public:
        using value_type = value;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;

        iterator() = default;
        iterator(const silverpoint_value* at, std::uint32_t left) noexcept : at_(at), left_(left) {}
        value operator*() const noexcept { return value(*at_); }
        iterator& operator++() noexcept {
            at_ += at_->size;
            --left_;
            return *this;
        }
        iterator operator++(int) noexcept { return std::exchange(*this, std::next(*this)); }
        bool operator==(const iterator& other) const noexcept { return left_ == other.left_; }

      private:
        const silverpoint_value* at_ = nullptr;
        std::uint32_t left_ = 0;
    };

    [[nodiscard]] iterator begin() const noexcept { return {first_, count_}; }
    [[nodiscard]] iterator end() const noexcept { return {}; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    /// By its name; nothing if there is none.
    [[nodiscard]] std::optional<value> find(std::string_view name) const noexcept {
        for (const value at : *this)
            if (at.name() == name) return at;
        return std::nullopt;
    }

  private:
    const silverpoint_value* first_;
    std::uint32_t count_;
};

inline values value::children() const noexcept { return {of_ + 1, of_->children}; }

/// One record. Refers to its records.
/// Thread-safe: any thread may read it. Cost: a pointer; its functions read what is there, and allocate
/// nothing.
class record {
  public:
    using time_point = std::chrono::sys_time<std::chrono::nanoseconds>;

    explicit record(const silverpoint_record& of) noexcept : of_(&of) {}

    [[nodiscard]] std::uint64_t number() const noexcept { return of_->number; }
    [[nodiscard]] time_point time() const noexcept {
        return time_point(std::chrono::nanoseconds(of_->wall_ns));
    }
    [[nodiscard]] reading::level level() const noexcept { return static_cast<reading::level>(of_->level); }
    [[nodiscard]] std::uint32_t pid() const noexcept { return of_->pid; }
    [[nodiscard]] std::string_view process() const noexcept { return detail::view(of_->process); }
    /// The kernel's number.
    [[nodiscard]] std::uint32_t tid() const noexcept { return of_->tid; }
    /// The name; may be empty.
    [[nodiscard]] std::string_view thread() const noexcept { return detail::view(of_->thread); }
    [[nodiscard]] std::string_view category() const noexcept { return detail::view(of_->category); }
    [[nodiscard]] std::string_view file() const noexcept { return detail::view(of_->file); }
    [[nodiscard]] std::uint32_t line() const noexcept { return of_->line; }
    [[nodiscard]] std::string_view function() const noexcept { return detail::view(of_->function); }
    /// The template, or an event's name.
    [[nodiscard]] std::string_view text() const noexcept { return detail::view(of_->text); }
    /// Its message, on one line.
    [[nodiscard]] std::string_view message() const noexcept { return detail::view(of_->message); }
    [[nodiscard]] values arguments() const noexcept { return {of_->arguments, of_->argument_count}; }
    /// The fields of the scopes that the thread was in.
    [[nodiscard]] values fields() const noexcept { return {of_->fields, of_->field_count}; }
    /// Of the end of a span, and of a wait.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> duration() const noexcept {
        if (of_->duration_ns < 0) return std::nullopt;
        return std::chrono::nanoseconds(of_->duration_ns);
    }
    /// Everything else.
    [[nodiscard]] const silverpoint_record& raw() const noexcept { return *of_; }

  private:
    const silverpoint_record* of_;
};

/// Records that were read together. Reading into it again reuses its memory. It moves, and does not copy.
/// Thread-safe: any thread may read, while none reads into them. Cost: its memory is used again.
class records {
  public:
    records() : room_(silverpoint_records_new()) {}

    class iterator {
      public:
        using value_type = record;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;

        iterator() = default;
        iterator(const silverpoint_records* of, std::size_t at) noexcept : of_(of), at_(at) {}
        record operator*() const noexcept { return record(*silverpoint_records_at(of_, at_)); }
        iterator& operator++() noexcept {
            ++at_;
            return *this;
        }
        iterator operator++(int) noexcept { return {of_, at_++}; }
        bool operator==(const iterator& other) const noexcept { return at_ == other.at_; }

      private:
        const silverpoint_records* of_ = nullptr;
        std::size_t at_ = 0;
    };

    [[nodiscard]] std::size_t size() const noexcept { return silverpoint_records_count(room_.get()); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// Below size().
    [[nodiscard]] record operator[](std::size_t at) const noexcept {
        return record(*silverpoint_records_at(room_.get(), at));
    }
    [[nodiscard]] iterator begin() const noexcept { return {room_.get(), 0}; }
    [[nodiscard]] iterator end() const noexcept { return {room_.get(), size()}; }
    [[nodiscard]] silverpoint_records* raw() const noexcept { return room_.get(); }

  private:
    struct free {
        void operator()(silverpoint_records* room) const noexcept { silverpoint_records_free(room); }
    };
    std::unique_ptr<silverpoint_records, free> room_;
};

/// Whether a text is a valid filter; does not wait. False: the text says what is wrong, and where.
/// Thread-safe: any thread. Cost: parses the filter.
inline bool check_filter(const std::string& filter, std::string& error) {
    char text[1024] = "";
    if (silverpoint_filter_check(filter.c_str(), text, sizeof text) == SILVERPOINT_DONE) return true;
    error = text;
    return false;
}

/// Reads files, or running programs.
/// Thread-safe: any thread; calls of one reader wait for one another. Cost: see each function of reader.h.
class reader {
  public:
    /// Opens nothing: to be assigned later, and the result of a failure without exceptions.
    reader() = default;
    /// Opens files together with the other parts of rotated traces. Fails if one cannot be read, or is no
    /// trace file.
    [[nodiscard]] static reader open(const std::vector<std::string>& files, options how, std::string& error) {
        int code;
        return open(files, how, error, code);
    }
    /// The same; `code` is one of reader.h's results.
    [[nodiscard]] static reader open(const std::vector<std::string>& files, options how, std::string& error,
                                     int& code) {
        return made(silverpoint_reader_open, files, how, error, code);
    }
    /// Living sessions: process ids, or patterns of processes' names; none: all.
    [[nodiscard]] static reader live(const std::vector<std::string>& targets, options how,
                                     std::string& error) {
        int code;
        return live(targets, how, error, code);
    }
    /// The same; `code` is one of reader.h's results: SILVERPOINT_NO_SESSION, …
    [[nodiscard]] static reader live(const std::vector<std::string>& targets, options how, std::string& error,
                                     int& code) {
        return made(silverpoint_reader_live, targets, how, error, code);
    }
    [[nodiscard]] explicit operator bool() const noexcept { return reader_ != nullptr; }

    /// Numbers the selection of a filter again: `-l warn -c net`, as silverpoint cat takes it, or an
    /// expression. False: the text says what is wrong and where, and everything is as before.
    bool filter(const std::string& text, std::string& error) {
        return of(error, [&](char* to, std::size_t size) {
                   return silverpoint_reader_filter(reader_.get(), text.c_str(), to, size);
               }) == SILVERPOINT_DONE;
    }
    /// Numbers the next records, for about so long. Nothing: it failed.
    std::optional<state> grow(std::chrono::milliseconds most, std::string& error) {
        const int result = of(error, [&](char* to, std::size_t size) {
            const auto ms = static_cast<std::uint64_t>(most.count() > 0 ? most.count() : 0);
            return silverpoint_reader_grow(reader_.get(), ms, nullptr, to, size);
        });
        if (result < 0) return std::nullopt;
        return static_cast<state>(result);
    }
    /// Reads at most `most` records from a number on, fewer if they are large. Continuing where the last call
    /// ended is fastest. False: a file has lost what it had.
    bool read(std::uint64_t from, std::size_t most, records& into, std::string& error) {
        return of(error, [&](char* to, std::size_t size) {
                   return silverpoint_reader_read(reader_.get(), from, most, into.raw(), to, size);
               }) == SILVERPOINT_DONE;
    }

    /// Records that have numbers.
    [[nodiscard]] std::uint64_t count() const noexcept { return silverpoint_reader_count(reader_.get()); }
    /// Reports of missing or damaged data, and other notes for people, since the last call.
    [[nodiscard]] std::vector<std::string> messages() {
        std::vector<std::string> all;
        char text[1024];
        while (silverpoint_reader_message(reader_.get(), text, sizeof text)) all.emplace_back(text);
        return all;
    }

#if defined(__cpp_exceptions)
    explicit reader(const std::string& file, options how = {})
        : reader(std::vector<std::string>{file}, how) {}
    explicit reader(const std::vector<std::string>& files, options how = {}) {
        std::string why;
        int code;
        *this = open(files, how, why, code);
        if (!*this) throw error(code, why);
    }
    [[nodiscard]] static reader live(const std::vector<std::string>& targets, options how = {}) {
        std::string why;
        int code;
        reader made = live(targets, how, why, code);
        if (!made) throw error(code, why);
        return made;
    }
    void filter(const std::string& text) {
        std::string why;
        if (!filter(text, why)) throw error(SILVERPOINT_INVALID, why);
    }
    state grow(std::chrono::milliseconds most) {
        std::string why;
        const auto result = grow(most, why);
        if (!result) throw error(SILVERPOINT_FAILED, why);
        return *result;
    }
    /// Numbers all records that there are now; returns how many.
    std::uint64_t grow_all() {
        while (grow(std::chrono::milliseconds(100)) == state::more) {
        }
        return count();
    }
    [[nodiscard]] records read(std::uint64_t from, std::size_t most) {
        records into;
        read(from, most, into);
        return into;
    }
    void read(std::uint64_t from, std::size_t most, records& into) {
        std::string why;
        if (!read(from, most, into, why)) throw error(SILVERPOINT_FAILED, why);
    }
#endif

  private:
    struct close {
        void operator()(silverpoint_reader* of) const noexcept { silverpoint_reader_close(of); }
    };

    template <class Call>
    static int of(std::string& error, Call call) {
        char text[1024] = "";
        const int result = call(text, sizeof text);
        if (result < 0) error = text;
        return result;
    }

    template <class Open>
    static reader made(Open open, const std::vector<std::string>& texts, options how, std::string& error,
                       int& code) {
        std::vector<const char*> all;
        for (const auto& text : texts) all.push_back(text.c_str());
        unsigned bits = 0;
        if (how.only) bits |= SILVERPOINT_ONLY;
        if (how.follow) bits |= SILVERPOINT_FOLLOW;
        if (how.utc) bits |= SILVERPOINT_UTC;
        reader opened;
        silverpoint_reader* raw = nullptr;
        code = of(error, [&](char* to, std::size_t size) {
            return open(all.data(), all.size(), bits, &raw, to, size);
        });
        opened.reader_.reset(raw);
        return opened;
    }

    std::unique_ptr<silverpoint_reader, close> reader_;
};

}  // namespace silverpoint::reading
