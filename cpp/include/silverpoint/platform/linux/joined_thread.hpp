// A thread whose start may fail. If the system has no room for another one, the caller gets the error, with
// and without exceptions. std::thread would throw, and would end a program without exceptions.
#pragma once

#include <pthread.h>

#include <cerrno>
#include <new>
#include <utility>

namespace silverpoint::threading {

class joined_thread {
  public:
    joined_thread() = default;
    joined_thread(const joined_thread&) = delete;
    joined_thread& operator=(const joined_thread&) = delete;
    ~joined_thread() { join(); }

    // Calls `run` in a new thread, once. 0, or the number of the error.
    template <class Function>
    int start(Function run) {
        if (is_running_) return EINVAL;
        auto* const given = new (std::nothrow) Function(std::move(run));
        if (given == nullptr) return ENOMEM;
        const auto body = [](void* argument) -> void* {
            auto* const function = static_cast<Function*>(argument);
            (*function)();
            delete function;
            return nullptr;
        };
        const int error = pthread_create(&thread_, nullptr, body, given);
        if (error != 0) delete given;
        is_running_ = error == 0;
        return error;
    }
    [[nodiscard]] bool joinable() const noexcept { return is_running_; }
    // Waits for its end.
    void join() {
        if (!std::exchange(is_running_, false)) return;
        pthread_join(thread_, nullptr);
    }

  private:
    pthread_t thread_{};
    bool is_running_ = false;
};

}  // namespace silverpoint::threading
