// Spans that end in another thread than they began in: those of coroutines which another thread resumes. Once
// for each line of input. Others of the same tracepoint are open meanwhile.
#include <coroutine>
#include <cstdio>
#include <silverpoint/silverpoint.hpp>
#include <thread>

SP_CATEGORY("shop")

struct Task {
    struct promise_type {
        Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_never initial_suspend() { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<> rest;
};

static Task passed(int number) {
    SP_SPAN("passed", number);
    SP_EVENT("inside", number);
    co_await std::suspend_always();
}

int main() {
    while (std::getchar() != EOF) {
        // Ended while its thread waits.
        Task task = passed(1);
        std::thread([&] {
            Task own = passed(2);
            task.rest.resume();
            SP_EVENT("own", 2);
            own.rest.resume();
        }).join();
        SP_EVENT("behind");
        // Ended after its thread.
        std::thread([&] { task = passed(3); }).join();
        task.rest.resume();
        SP_EVENT("last");
        std::puts("done");
        std::fflush(stdout);
    }
}
