// spdlog's asynchronous loggers. Another thread writes to files and consoles in any case. It also calls the
// program's own sinks if their logger is one of these.
#pragma once

#include "registry.hpp"

namespace spdlog {

// The policy for a full queue. There is no queue here: each thread has a ring, with the policy of the
// configuration.
enum class async_overflow_policy { block, overrun_oldest, discard_new };

namespace details {

// Represents spdlog's queue and its threads, so that programs that make one compile. Nothing is discarded.
class thread_pool {
  public:
    explicit thread_pool(std::size_t, std::size_t threads = 1) {
        if (threads == 0 || threads > 1000)
            SP_DETAIL_THROW(
                spdlog_ex("spdlog::thread_pool(): invalid threads_n param (valid range is 1-1000)"));
    }
    thread_pool(std::size_t size, std::size_t threads, const std::function<void()>& on_start,
                const std::function<void()>& = {})
        : thread_pool(size, threads) {
        if (on_start) on_start();
    }
    [[nodiscard]] std::size_t overrun_counter() const { return 0; }
    void reset_overrun_counter() {}
    [[nodiscard]] std::size_t discard_counter() const { return 0; }
    void reset_discard_counter() {}
    [[nodiscard]] std::size_t queue_size() const { return 0; }
};

}  // namespace details

// Thread-safe: any thread. Cost: that of a logger; its end waits until its lines are written, at most five
// seconds.
class async_logger final : public logger {
  public:
    template <class Iterator>
    async_logger(std::string name, Iterator begin, Iterator end, std::weak_ptr<details::thread_pool> pool,
                 async_overflow_policy policy = async_overflow_policy::block)
        : logger(std::move(name), begin, end), pool_(std::move(pool)), policy_(policy) {
        changed_();
    }
    async_logger(std::string name, sinks_init_list sinks, std::weak_ptr<details::thread_pool> pool,
                 async_overflow_policy policy = async_overflow_policy::block)
        : async_logger(std::move(name), sinks.begin(), sinks.end(), std::move(pool), policy) {}
    async_logger(std::string name, sink_ptr sink, std::weak_ptr<details::thread_pool> pool,
                 async_overflow_policy policy = async_overflow_policy::block)
        : async_logger(std::move(name), {std::move(sink)}, std::move(pool), policy) {}
    // Its lines are written before it is destroyed.
    ~async_logger() override { silverpoint_flush(patience_()); }

    [[nodiscard]] bool is_async_() const override { return true; }
    [[nodiscard]] std::shared_ptr<logger> clone(std::string name) override {
        auto made = std::make_shared<async_logger>(std::move(name), std::as_const(*this).sinks().begin(),
                                                   std::as_const(*this).sinks().end(), pool_, policy_);
        copy_to_(*made);
        return made;
    }

  private:
    std::weak_ptr<details::thread_pool> pool_;
    async_overflow_policy policy_;
};

inline std::shared_ptr<details::thread_pool>& thread_pool_() {
    static auto& one = *new std::shared_ptr<details::thread_pool>;
    return one;
}
// Thread-safe: any thread. Cost: the lock of the registry; no thread is started.
inline std::shared_ptr<details::thread_pool> thread_pool() {
    const std::lock_guard guard(registry_::the().lock);
    return thread_pool_();
}
inline void init_thread_pool(std::size_t size, std::size_t threads, const std::function<void()>& on_start,
                             const std::function<void()>& on_stop = {}) {
    auto made = std::make_shared<details::thread_pool>(size, threads, on_start, on_stop);
    const std::lock_guard guard(registry_::the().lock);
    thread_pool_() = std::move(made);
}
inline void init_thread_pool(std::size_t size, std::size_t threads = 1) {
    init_thread_pool(size, threads, std::function<void()>());
}

}  // namespace spdlog
