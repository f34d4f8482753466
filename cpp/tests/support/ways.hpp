// Ways out of code of the program's that runs within a tracepoint.
#pragma once

#include <pthread.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace ways {

enum class Way { kThrow, kThreadExit, kCancel, kJump, kFork };
// Those that do not come back.
inline constexpr Way kForGood[] = {Way::kThrow, Way::kThreadExit, Way::kCancel, Way::kJump};

inline std::string name_of(Way way) {
    constexpr const char* names[] = {"Exception", "ThreadExit", "Cancelled", "Jump", "Fork"};
    return names[static_cast<int>(way)];
}
inline bool ends_thread(Way way) { return way == Way::kThreadExit || way == Way::kCancel; }

// Where a jump goes.
inline thread_local sigjmp_buf back;

// Leaves. A fork alone comes back: in the parent, when its child has done `in_child` and ended.
inline int leave(Way way, void (*in_child)() = nullptr) {
    switch (way) {
        case Way::kThrow:
            throw std::runtime_error("left");
        case Way::kThreadExit:
            pthread_exit(nullptr);
        case Way::kCancel:
            pthread_cancel(pthread_self());
            pthread_testcancel();
            break;
        case Way::kJump:
            siglongjmp(back, 1);
        case Way::kFork:
            if (const pid_t child = fork(); child == 0) {
                if (in_child != nullptr) in_child();
                _exit(0);
            } else {
                waitpid(child, nullptr, 0);
            }
    }
    return 7;
}

// Whether what is run leaves by the way, in a thread of its own where that ends; of a fork, whether it comes
// back.
inline bool leaves(Way way, const std::function<void()>& run) {
    switch (way) {
        case Way::kThrow:
            try {
                run();
            } catch (const std::runtime_error&) {
                return true;
            }
            return false;
        case Way::kJump:
            if (sigsetjmp(back, 1) != 0) return true;
            run();
            return false;
        case Way::kFork:
            run();
            return true;
        default:
            break;
    }
    pthread_t thread;
    const auto start = [](void* data) -> void* {
        (*static_cast<const std::function<void()>*>(data))();
        return data;
    };
    if (pthread_create(&thread, nullptr, start, const_cast<std::function<void()>*>(&run)) != 0) return false;
    void* result = nullptr;
    pthread_join(thread, &result);
    return result == (way == Way::kCancel ? PTHREAD_CANCELED : nullptr);
}

}  // namespace ways
