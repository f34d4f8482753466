// For unit tests of programs that use Silverpoint: what did this call record?
//
//   TEST(Orders, FillIsTraced) {
//       silverpoint::testing::Capture capture;
//       fill(7);
//       EXPECT_TRUE(capture.has("order.filled", {{"id", 7}, {"venue", "XETR"}}));
//       EXPECT_EQ(capture.count("order.rejected"), 0u);
//   }
//
// Works with GoogleTest, whose messages then list what was recorded, and without it: has() returns something
// like a bool, with message().
//
// A capture reads this process's own rings and removes nothing: a collector still gets every record. While
// captures live, every site records (levels left out by SP_MIN_LEVEL do not exist). When the last has ended,
// the earlier directives apply again. If a collector collects this process, or is expected, directives are
// left alone, and a capture sees what they let through.
//
// Without a collector a ring keeps the latest records and discards the oldest. A capture reports in its
// messages when that may have happened. clear() between parts of a long test, or few records, prevent it.
#pragma once

#if defined(_MSC_VER) && !defined(__clang__)
#    error "silverpoint/testing.hpp needs integers of 128 bits: compile with clang-cl, or leave it out"
#    include "clang-cl is needed"
#endif

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detail/peek.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {
namespace testing {

// The records that a capture sees: of all threads, or of the thread that makes the capture.
enum class Scope { kProcess, kThread };

// A value that a test expects: a number, text or bool. nullptr is an empty optional.
// Thread-safe: any thread may read it. Cost: to make one, copies of texts.
class SP_DETAIL_VISIBLE Expected {
  public:
    SP_DETAIL_OWN Expected(bool value)
        : value_{Value::Kind::kBool, value ? 1 : 0, 0, value ? "true" : "false", ""} {}
    template <class T>
        requires(std::integral<T> && !std::same_as<T, bool>)
    SP_DETAIL_OWN Expected(T value) : value_{Value::Kind::kInteger, value, 0, std::to_string(value), ""} {}
    template <class T>
        requires std::floating_point<T>
    SP_DETAIL_OWN Expected(T value)
        : value_{Value::Kind::kFloat, 0, static_cast<double>(value), detail::text_of(double(value)), ""} {}
    SP_DETAIL_OWN Expected(std::string_view text) : value_{Value::Kind::kText, 0, 0, std::string(text), ""} {}
    SP_DETAIL_OWN Expected(const char* text) : Expected(std::string_view(text)) {}
    SP_DETAIL_OWN Expected(const std::string& text) : Expected(std::string_view(text)) {}
    SP_DETAIL_OWN Expected(std::nullptr_t) : value_{Value::Kind::kNull, 0, 0, "none", ""} {}

    // Numbers are compared without regard to their types; a float of 32 bits equals a double that rounds to
    // it. Text equals text, and the label of an enumeration. It also equals the shown form of a container, a
    // date, a number with a unit or a secret.
    SP_DETAIL_OWN bool is(const Value& got) const {
        using enum Value::Kind;
        switch (value_.kind) {
            case kNull:
                return got.kind == kNull;
            case kBool:
                return got.kind == kBool && got.integer == value_.integer;
            case kInteger:
                return (got.kind == kInteger && got.integer == value_.integer) ||
                       (got.kind == kFloat && got.number == static_cast<double>(value_.integer));
            case kFloat:
                if (got.type == "f32")
                    return static_cast<float>(got.number) == static_cast<float>(value_.number);
                return (got.kind == kFloat && got.number == value_.number) ||
                       (got.kind == kInteger && static_cast<double>(got.integer) == value_.number);
            case kText:
            case kOther:
                // A plain number is no text; one that has a label or a unit may be compared by it.
                if (got.kind == kInteger && got.text == std::to_string(static_cast<long long>(got.integer)))
                    return false;
                if (got.kind == kFloat && got.unit.empty()) return false;
                if (got.kind == kNull && got.text != "<secret>") return false;
                return got.kind != kBool && got.text == value_.text;
        }
        return false;
    }
    SP_DETAIL_OWN std::string text() const {
        return value_.kind == Value::Kind::kText ? '"' + value_.text + '"' : value_.text;
    }

  private:
    Value value_;
};

using Fields = std::initializer_list<std::pair<std::string_view, Expected>>;

// Whether something was recorded; and if not, what was.
// Thread-safe: any thread may read it. Cost: to make one, a copy of the text.
class SP_DETAIL_VISIBLE Result {
  public:
    SP_DETAIL_OWN Result(bool is, std::string message) : is_(is), message_(std::move(message)) {}
    SP_DETAIL_OWN explicit operator bool() const { return is_; }
    SP_DETAIL_OWN bool operator!() const { return !is_; }
    SP_DETAIL_OWN const std::string& message() const { return message_; }
    // To testing::AssertionResult, so that GoogleTest shows the message.
    template <class Source>
        requires requires(Source result) {
            result.failure_message();
            result << std::string();
        }
    SP_DETAIL_OWN operator Source() const {
        Source result(is_);
        result << message_;
        return result;
    }

  private:
    bool is_;
    std::string message_;
};

// Sees what is recorded while it lives.
// Thread-safe: one thread at a time. Cost: each question reads the rings.
class SP_DETAIL_VISIBLE Capture {
  public:
    SP_DETAIL_OWN explicit Capture(Scope scope = Scope::kProcess)
        : tid_(scope == Scope::kThread ? detail::thread_id() : 0), begin_(detail::standings()) {}
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;

    // Everything recorded since the beginning, or the last clear(), in order of time.
    SP_DETAIL_OWN std::vector<Record> records() const { return detail::peek(begin_, tid_, nullptr); }
    // Forgets what was recorded so far.
    SP_DETAIL_OWN void clear() { begin_ = detail::standings(); }

    // How many records of this name (of a log or stream: its template) have these values in these arguments,
    // by name or number from 0. Other arguments may be there too.
    SP_DETAIL_OWN std::size_t count(std::string_view name, Fields fields = {}) const {
        const auto all = records();
        return static_cast<std::size_t>(std::count_if(
            all.begin(), all.end(), [&](const Record& record) { return matches(record, name, fields); }));
    }
    SP_DETAIL_OWN Result has(std::string_view name, Fields fields = {}) const {
        bool forgot = false;
        const auto all = detail::peek(begin_, tid_, &forgot);
        const bool found = std::any_of(all.begin(), all.end(),
                                       [&](const Record& record) { return matches(record, name, fields); });
        std::string message = found ? "recorded: " : "not recorded: ";
        message += name;
        for (const auto& [field, value] : fields)
            message.append(" ").append(field).append("=") += value.text();
        return {found, message + "\n" + list(all, forgot)};
    }
    // What was recorded, one record a line.
    SP_DETAIL_OWN std::string list() const {
        bool forgot = false;
        const auto all = detail::peek(begin_, tid_, &forgot);
        return list(all, forgot);
    }

  private:
    SP_DETAIL_OWN static bool matches(const Record& record, std::string_view name, Fields fields) {
        if (record.name != name) return false;
        return std::all_of(fields.begin(), fields.end(), [&](const auto& field) {
            const Value* value = record.find(field.first);
            return value != nullptr && field.second.is(*value);
        });
    }
    SP_DETAIL_OWN static std::string list(const std::vector<Record>& all, bool forgot) {
        constexpr std::size_t kMost = 50;
        std::string out;
        if (!detail::session.is_ready()) {
            out += "There is no session: nothing can be recorded (is there a directory for it?).\n";
        } else if (all.empty()) {
            out += "Nothing was recorded.\n";
        } else {
            out += "What was recorded:\n";
        }
        if (forgot) out += "  (older records may have been overwritten)\n";
        for (std::size_t i = all.size() > kMost ? all.size() - kMost : 0; i < all.size(); ++i)
            out += "  " + all[i].text() + "\n";
        if (all.size() > kMost) out += "  (and " + std::to_string(all.size() - kMost) + " before)\n";
        return out;
    }

    detail::AllOn all_on_;
    std::uint32_t tid_;  // 0: of all threads
    detail::Standings begin_;
};

}  // namespace testing
}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint
