// Exceptions with their causes: the text of each, from the outermost to the one where it began.
//
//   catch (const std::exception& error) {
//       SP_ERROR("cannot load: {}", silverpoint::causes(error));
//   }
//   SP_ERROR("lost: {}", silverpoint::causes(std::current_exception()));
//
// A cause is what std::throw_with_nested left behind. If something is no std::exception, the record says so.
// Texts are copied into a thousand bytes on the stack; up to eight causes. Each costs a throw and a catch (a
// microsecond or more): this is for errors, not for the hot path.
//
// Code that is compiled without exceptions (-fno-exceptions) may still be given one. Then the text of an
// exception is recorded; for one that only a pointer holds, the record says that its text is unknown. Without
// type information (-fno-rtti) causes are known for the exception that is being handled, and for those behind
// a pointer.
#pragma once

#include <cstring>
#include <exception>
#include <string_view>

#include "silverpoint.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// Texts of an exception and its causes; a range of std::string_view. Trivially copyable, but large: pass it
// by reference.
// Thread-safe: any thread may read it. Cost: to make one, a throw and a catch a cause.
class SP_DETAIL_VISIBLE Causes {
  public:
    static constexpr std::size_t kMost = 8;

    const std::string_view* begin() const { return texts_; }
    SP_DETAIL_OWN const std::string_view* end() const { return texts_ + count_; }
    SP_DETAIL_OWN std::size_t size() const { return count_; }

    Causes() = default;
    Causes(const Causes&) = delete;
    Causes& operator=(const Causes&) = delete;
    SP_DETAIL_OWN explicit Causes(const std::exception& error) { add(error); }
    SP_DETAIL_OWN explicit Causes(const std::exception_ptr& error) { add(error); }

  private:
    SP_DETAIL_OWN void add(const std::exception& error) {
        add_text(error.what());
        add(cause_of(error));
    }
    SP_DETAIL_OWN void add(const std::exception_ptr& error) {
        if (error == nullptr || count_ == kMost) return;
#ifdef __cpp_exceptions
        try {
            std::rethrow_exception(error);
        } catch (const std::exception& caught) {
            add_text(caught.what());
        } catch (...) {
            add_text("(not a std::exception)");
        }
        add(cause_of(error));
#else
        add_text("(unknown: compiled without exceptions)");
#endif
    }
#ifdef __cpp_exceptions
    // A catch clause knows types without type information, too.
    SP_DETAIL_OWN static std::exception_ptr cause_of(const std::exception_ptr& error) {
        try {
            std::rethrow_exception(error);
        } catch (const std::nested_exception& nested) {
            return nested.nested_ptr();
        } catch (...) {
            return nullptr;
        }
    }
#endif
    static std::exception_ptr cause_of([[maybe_unused]] const std::exception& error) {
#if defined(__cpp_rtti)
        const auto* nested = dynamic_cast<const std::nested_exception*>(&error);
        return nested == nullptr ? nullptr : nested->nested_ptr();
#elif defined(__cpp_exceptions)
        const std::exception_ptr handled = std::current_exception();
        if (handled == nullptr) return nullptr;
        try {
            std::rethrow_exception(handled);
        } catch (const std::exception& caught) {
            return &caught == &error ? cause_of(handled) : nullptr;
        } catch (...) {
            return nullptr;
        }
#else
        return nullptr;
#endif
    }
    SP_DETAIL_OWN void add_text(const char* text) {
        const std::size_t wanted = text == nullptr ? 0 : std::strlen(text);
        const std::size_t size = wanted < sizeof room_ - used_ ? wanted : sizeof room_ - used_;
        if (size > 0) std::memcpy(room_ + used_, text, size);
        texts_[count_++] = std::string_view(room_ + used_, size);
        used_ += size;
    }

    std::string_view texts_[kMost];
    std::size_t count_ = 0, used_ = 0;
    char room_[1000];
};

namespace detail {
template <>
inline constexpr bool kIsKnown<Causes> = true;
}

// The texts of an exception and its causes.
// Thread-safe: any thread. Cost: a throw and a catch a cause.
inline Causes causes(const std::exception& error) { return Causes(error); }
// The same for one that was caught elsewhere; empty for a null pointer.
// Thread-safe: any thread. Cost: a throw and a catch a cause.
inline Causes causes(const std::exception_ptr& error) { return Causes(error); }

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint
