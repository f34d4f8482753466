// A std::ostream for short use: for manipulators, and for values that write themselves.
#pragma once

#include <algorithm>
#include <ostream>
#include <streambuf>
#include <string>
#include <utility>

#include "inside.hpp"
#include "manner.hpp"

namespace google::glog_internal_namespace_ {

// A message is no longer than this, including its prefix and excluding its line end.
inline constexpr std::size_t kLineMost = 29998;

// Keeps what is written to it, up to a line's length.
class ScratchBuffer : public std::streambuf {
  public:
    std::string& text() { return text_; }
    const std::string& text() const { return text_; }

  protected:
    int_type overflow(int_type c) override {
        if (!traits_type::eq_int_type(c, traits_type::eof()) && text_.size() < kLineMost)
            text_ += traits_type::to_char_type(c);
        return traits_type::not_eof(c);
    }
    std::streamsize xsputn(const char* from, std::streamsize count) override {
        const std::size_t room = kLineMost - std::min(kLineMost, text_.size());
        text_.append(from, std::min(room, static_cast<std::size_t>(count)));
        return count;
    }

  private:
    std::string text_;
};

// Where streams of messages keep the address of the counter that google::COUNTER writes; other streams have
// none. (Without type information, -fno-rtti, the type cannot be queried.)
inline int counter_slot() {
    static const int slot = std::ios_base::xalloc();
    return slot;
}

class Scratch final : private ScratchBuffer, public std::ostream {
  public:
    Scratch() : std::ostream(nullptr) {
        rdbuf(static_cast<std::streambuf*>(this));
        pword(counter_slot()) = &counter;
    }
    using ScratchBuffer::text;

    // The counter of LOG_EVERY_N, which is written by google::COUNTER.
    std::int64_t counter = 0;
    Scratch* next = nullptr;

    // Others have written to it: every state of a stream may be set by now, their own fields included.
    bool is_foreign = false;

    // As if new.
    void reset() {
        text().clear();
        clear();
        if (std::exchange(is_foreign, false)) {
            copyfmt(std::ios(nullptr));
            pword(counter_slot()) = &counter;
        }
        set(Manner{});
        counter = 0;
    }

    // How the next value is to be written.
    Manner manner() const { return {flags(), width(), precision(), fill()}; }
    Look look() const { return manner().look(); }
    void set(const Manner& manner) {
        flags(manner.flags);
        width(manner.width);
        precision(manner.precision);
        fill(manner.fill);
    }
};

// Unused streams of this thread: several are in use while arguments of LOG log themselves.
struct Scratches {
    Scratch* first = nullptr;
    bool is_gone = false;
    ~Scratches() {
        is_gone = true;
        while (first != nullptr) delete std::exchange(first, first->next);
    }
};
inline Scratches& scratches() {
    static thread_local Scratches known;
    return known;
}

inline Scratch* take_scratch() {
    const Inside guard;
    Scratches& own = scratches();
    if (own.first == nullptr) return new Scratch;
    return std::exchange(own.first, own.first->next);
}
inline void give_back(Scratch* scratch) {
    const Inside guard;
    Scratches& own = scratches();
    if (own.is_gone || scratch->text().capacity() > 64 * 1024) {
        delete scratch;
        return;
    }
    scratch->reset();
    scratch->next = std::exchange(own.first, scratch);
}

// One stream for a scope.
class ScratchHolder {
  public:
    ScratchHolder() : scratch_(take_scratch()) {}
    ScratchHolder(const ScratchHolder&) = delete;
    ScratchHolder& operator=(const ScratchHolder&) = delete;
    ~ScratchHolder() { give_back(scratch_); }
    Scratch& operator*() const { return *scratch_; }
    Scratch* operator->() const { return scratch_; }

  private:
    Scratch* scratch_;
};

}  // namespace google::glog_internal_namespace_
