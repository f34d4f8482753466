// What readers of all formats share: the bytes, how deep they are, and the error.
#pragma once

#include "types.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

struct SP_DETAIL_VISIBLE ReadOptions {
    // How deep values may be nested. It also bounds the recursion, and so the stack that is used.
    unsigned depth = 128;
    // Members that the type does not have are an error; otherwise they are checked and skipped. (A type with
    // a member of type Rest accepts them in any case.)
    bool refuses_unknown = false;
    // Any member may be missing, and keeps the object's value; otherwise a missing member is an error, except
    // those of SP_DEFAULTS, optionals and pointers.
    bool allows_missing = false;
};

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

SP_BIND_BEGIN

class Input {
  public:
    explicit Input(std::string_view bytes, const ReadOptions& options)
        : options_(options), begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

    const ReadOptions& options() const { return options_; }
    // Bytes that have been read.
    std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }

    // --- For read.hpp.

    bool failed() const { return error_ != nullptr; }
    const char* here() const { return at_; }
    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
    // A failure within a member or an element. False, as all that fails.
    template <class Step>
    [[gnu::noinline, gnu::cold]] bool within(const Step& step) {
        step_into(*error_, step);
        return false;
    }
    BindResult finish_value() {
        depth_ = 0;
        if (error_ == nullptr) [[likely]]
            return {};
        at_ = end_;  // there is no way back into a damaged text
        return BindResult(std::move(error_));
    }

  protected:
    void set_error(BindError::Kind kind, const char* at, std::string found, std::string expected) {
        if (error_ != nullptr) return;
        error_ = std::make_unique<BindError>();
        error_->kind = kind;
        error_->offset = static_cast<std::size_t>(at - begin_);
        error_->found = std::move(found);
        error_->expected = std::move(expected);
    }

    ReadOptions options_;
    const char* begin_;
    const char* at_;
    const char* end_;
    unsigned depth_ = 0;
    std::string scratch_;
    std::unique_ptr<BindError> error_;
};

SP_BIND_END
