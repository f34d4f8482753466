// Tracepoints in a coroutine: their variables, and temporaries that live across an await, lie in its frame.
#include <coroutine>
#include <silverpoint/glog.hpp>
#include <silverpoint/logger.hpp>
#include <silverpoint/silverpoint.hpp>
#include <silverpoint/spdlog.hpp>

struct Task {
    struct promise_type {
        Task get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};
template <class T>
struct Ready {
    T value;
    bool await_ready() const { return true; }
    void await_suspend(std::coroutine_handle<>) const {}
    T await_resume() const { return value; }
};

Task job(int id) {
    SP_SPAN("job", id);
    SP_SCOPE();
    SP_CONTEXT("id", id);
    SP_INFO("{} {}", id, co_await Ready<int>{1});
    SP_INFO("{} {}", SP_HEX(co_await Ready<int>{255}), SP_UNIT(co_await Ready<int>{1}, "ms"));
    // (Of a temporary with a destructor g++ 12 makes two, in every such expression.)
    SP_INFO << "begin" << co_await Ready<double>{0.5};
    SP_INFOF("%d", co_await Ready<int>{1});
    SP_EVENT("event", co_await Ready<int>{1});
    SP_COUNTER("counter", co_await Ready<int>{1});
    SP_INFO_EVERY_N(2, "{}", co_await Ready<int>{1});
    auto span = SP_ASYNC_SPAN("fetch", id);
    auto line = SP_STREAM(info);
    auto taken = silverpoint::capture_context();
    co_await std::suspend_never{};
    line << id;
    const auto scope = taken.enter();
    if (SP_ENABLED(info)) SP_LOG(warn, "net", "{}", id);
}

// The ways of spdlog's and glog's users.
Task others(int id) {
    spdlog::info("{} {}", id, co_await Ready<int>{1});
    SPDLOG_WARN("{}", co_await Ready<double>{0.5});
    // (An await within a statement of glog's makes g++ warn: its line would be a variable of the frame.)
    const bool is_on = co_await Ready<bool>{true};
    LOG_IF(WARNING, is_on) << "conditional " << id;
    CHECK_EQ(co_await Ready<int>{1}, 1) << "sums";
    VLOG(1) << "verbose " << id;
    co_await std::suspend_never{};
    spdlog::default_logger()->error("{}", id);
}

int main() {
    job(1);
    others(2);
}
