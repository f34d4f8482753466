// Handles on connections, and what ends them by itself.
#pragma once

#include "slot.hpp"

namespace silverpoint {

using signaling::tally;

/// A handle on one receiver of a signal: may be copied, outlives both, and by itself ends nothing.
/// Thread-safe: any thread; each handle by one at a time. Cost: a copy is an atomic addition.
class connection {
  public:
    connection() = default;
    explicit connection(signaling::held<signaling::slot_base> slot) : slot_(slot.release()) {}
    connection(const connection& other) : slot_(other.slot_) {
        if (slot_ != nullptr) slot_->hold();
    }
    connection(connection&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
    connection& operator=(connection other) noexcept {
        std::swap(slot_, other.slot_);
        return *this;
    }
    ~connection() {
        if (slot_ != nullptr) slot_->drop();
    }

    bool connected() const { return slot_ != nullptr && slot_->connected(); }
    /// True when it is disconnected, the receiver has returned, and its callable is destroyed.
    bool over() const { return slot_ == nullptr || slot_->left(); }

    /// Ends the connection: when this returns, the receiver is not running in any thread and will not run
    /// again; its queued events are gone. If the receiver itself calls it, it waits for the receiver's calls
    /// in other threads only, and the running call is this thread's last. If two receivers in two threads
    /// each disconnect the other, one of them returns before the other has ended.
    ///
    /// It waits for a receiver that runs in another thread: do not hold a lock that the receiver takes. A
    /// receiver that waits for room in a queue (overflow::block) is running too. If the thread that drains
    /// that queue disconnects it, the event is dropped (and counted), and the receiver goes on.
    /// Thread-safe: any thread. Cost: a lock, and the wait.
    void disconnect() const {
        if (slot_ != nullptr) slot_->of().remove(slot_);
    }

    /// The counts of the events so far; for another thread's events as they were a moment ago.
    tally counted() const { return slot_ != nullptr ? slot_->counted() : tally{}; }

  private:
    signaling::slot_base* slot_ = nullptr;
};

/// A connection that ends with its scope. A thread_local one that was made before its thread's first emission
/// costs some 300 bytes for each such thread. They are not used again when the thread has ended.
/// Thread-safe: one thread at a time. Cost: its end is that of connection::disconnect.
class scoped_connection {
  public:
    scoped_connection() = default;
    scoped_connection(connection of) : of_(std::move(of)) {}  // NOLINT: implicit on purpose
    scoped_connection(scoped_connection&& other) noexcept : of_(other.release()) {}
    scoped_connection& operator=(scoped_connection&& other) noexcept {
        if (this != &other) {
            of_.disconnect();
            of_ = other.release();
        }
        return *this;
    }
    ~scoped_connection() { of_.disconnect(); }

    const connection& get() const { return of_; }
    bool connected() const { return of_.connected(); }
    void disconnect() const { of_.disconnect(); }
    tally counted() const { return of_.counted(); }
    /// Leaves the connection as it is.
    connection release() { return std::exchange(of_, connection()); }

  private:
    connection of_;
};

/// Ends all connections that were made with it when it dies. Use it as the base of a class, or better as its
/// last member. Members die in reverse order, so no signal finds the others dead. A class derived from a base
/// that is a receiver calls `disconnect_all` in its destructor if other threads emit signals meanwhile.
/// Thread-safe: any thread. Cost: a lock, and to add a connection an allocation; its end waits as
/// connection::disconnect does.
class receiver {
  public:
    receiver() = default;
    // A copy is another object, with no connections.
    receiver(const receiver&) {}
    receiver& operator=(const receiver&) { return *this; }
    ~receiver() { disconnect_all(); }

    void disconnect_all() {
        std::vector<connection> ended;
        {
            const std::lock_guard hold(lock_);
            ended.swap(connections_);
        }
        for (const connection& one : ended) one.disconnect();
    }

    void add(const connection& one) {
        const std::lock_guard hold(lock_);
        // Connections that have ended otherwise are removed as the list grows. Those whose receiver another
        // thread still waits for are kept, since this one must wait too.
        if (connections_.size() >= prune_at_) {
            std::erase_if(connections_, [](const connection& at) { return at.over(); });
            prune_at_ = 2 * connections_.size() + 16;
        }
        connections_.push_back(one);
    }

  private:
    std::mutex lock_;
    std::vector<connection> connections_;
    std::size_t prune_at_ = 16;
};

}  // namespace silverpoint
