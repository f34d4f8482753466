// Where writers put their bytes: memory that grows, or pieces that are passed on.
#pragma once

#include <cstdlib>
#include <cstring>

#include "error.hpp"

SP_BIND_BEGIN

// Writers ask once for room, then write behind a pointer that they carry along. A null pointer says that
// something failed.
class Output {
  public:
    // Takes what has been written so far; false: no more is wanted.
    using Sink = bool (*)(void* context, const char* data, std::size_t size);

    Output() = default;
    Output(Sink sink, void* context) : sink_(sink), context_(context) {}
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    ~Output() {
        if (begin_ != first_) std::free(begin_);
    }

    // What was written and not yet passed on; valid until the next call.
    std::string_view view() const { return {begin_, static_cast<std::size_t>(at_ - begin_)}; }
    // Forgets it; keeps the memory.
    void clear() {
        at_ = begin_;
        handed_ = 0;
    }
    // Passes the rest on, if there is a sink.
    BindResult finish() {
        if (sink_ != nullptr && !hand_on(at_)) {
            fail(nullptr, BindError::Kind::kSink, "a refusal", "a sink that takes bytes");
            return BindResult(std::move(error_));
        }
        if (sink_ != nullptr) at_ = begin_;
        return {};
    }

    // --- For writers.

    bool has_sink() const { return sink_ != nullptr; }
    char* at() const { return at_; }
    void at(char* p) { at_ = p; }
    std::size_t offset(const char* p) const { return handed_ + static_cast<std::size_t>(p - begin_); }

    // The same place, with room for `size` bytes behind it.
    [[gnu::always_inline]] char* room(char* p, std::size_t size) {
        return static_cast<std::size_t>(end_ - p) >= size ? p : grow(p, size);
    }

    [[gnu::noinline, gnu::cold]] std::nullptr_t fail(const char* p, BindError::Kind kind, std::string found,
                                                     std::string expected) {
        error_ = std::make_unique<BindError>();
        error_->kind = kind;
        error_->offset = offset(p != nullptr ? p : at_);
        error_->found = std::move(found);
        error_->expected = std::move(expected);
        return nullptr;
    }
    // A failure within a member or an element.
    template <class Step>
    [[gnu::noinline, gnu::cold]] std::nullptr_t within(const Step& step) {
        step_into(*error_, step);
        return nullptr;
    }
    // Ends the value that began at `begin`: keeps it, or removes the part that was not passed on.
    BindResult finish_value(char* p, std::size_t began) {
        if (p != nullptr) [[likely]] {
            at_ = p;
            return {};
        }
        at_ = began >= handed_ ? begin_ + (began - handed_) : begin_;
        return BindResult(std::move(error_));
    }

  private:
    bool hand_on(const char* end) {
        const auto size = static_cast<std::size_t>(end - begin_);
        if (size != 0 && !sink_(context_, begin_, size)) return false;
        handed_ += size;
        return true;
    }
    [[gnu::noinline]] char* grow(char* p, std::size_t size) {
        if (sink_ != nullptr && static_cast<std::size_t>(p - begin_) >= kPiece) {
            // The last byte stays: a comma may have to become the end of an array.
            if (!hand_on(p - 1))
                return fail(p, BindError::Kind::kSink, "a refusal", "a sink that takes bytes");
            *begin_ = p[-1];
            at_ = begin_;
            p = begin_ + 1;
            if (static_cast<std::size_t>(end_ - p) >= size) return p;
        }
        const auto used = static_cast<std::size_t>(p - begin_), kept = static_cast<std::size_t>(at_ - begin_);
        const auto had = static_cast<std::size_t>(end_ - begin_);
        if (size > static_cast<std::size_t>(-1) / 4 - used) return no_memory(p);
        const std::size_t wanted = used + size > 2 * had ? used + size : 2 * had;
        char* memory = static_cast<char*>(std::realloc(begin_ == first_ ? nullptr : begin_, wanted));
        if (memory == nullptr) return no_memory(p);
        if (begin_ == first_) std::memcpy(memory, first_, used);
        begin_ = memory;
        end_ = memory + wanted;
        at_ = memory + kept;
        return memory + used;
    }
    std::nullptr_t no_memory(const char* p) {
        return fail(p, BindError::Kind::kMemory, "none", "memory for the output");
    }

    static constexpr std::size_t kFirst = 512, kPiece = 64 << 10;
    char first_[kFirst];
    char* begin_ = first_;
    char* at_ = first_;
    char* end_ = first_ + kFirst;
    Sink sink_ = nullptr;
    void* context_ = nullptr;
    std::size_t handed_ = 0;
    std::unique_ptr<BindError> error_;
};

SP_BIND_END
