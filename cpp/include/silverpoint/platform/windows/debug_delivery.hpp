// Debug output for those who know OutputDebugString alone: debuggers and debug monitors.
//
//   a debugger ──▶ the real OutputDebugString, at the call: its exception is the delivery
//   a monitor  ──▶ a queue ──▶ a thread of the process's pool ──▶ the monitor's objects (dbwin.hpp)
//   neither    ──▶ nothing: once a second a call looks for a monitor
//
// No call waits for a monitor. The queue is bounded: what finds it full is counted, and the monitor shows how
// many. Its thread works while there are texts, and a second longer.
#pragma once

#include <atomic>
#include <cstdlib>

#include "../errno_guard.hpp"
#include "dbwin.hpp"
#include "process.hpp"

SP_DETAIL_BEGIN

// Windows's pool of threads. Its types differ between versions of Microsoft's headers.
struct ThreadPool {
    using Body = void(__stdcall*)(void*, void*, void*);
    void*(__stdcall* create)(Body, void*, void*);
    void(__stdcall* set)(void*, struct _FILETIME*, unsigned long, unsigned long);
    void(__stdcall* wait)(void*, int);
    void(__stdcall* close)(void*);

    // Looked up before it is used: no lookup waits for a library that is being loaded.
    bool find() {
        create = system_function<decltype(create)>(kLibrary, "CreateThreadpoolTimer");
        set = system_function<decltype(set)>(kLibrary, "SetThreadpoolTimer");
        wait = system_function<decltype(wait)>(kLibrary, "WaitForThreadpoolTimerCallbacks");
        close = system_function<decltype(close)>(kLibrary, "CloseThreadpoolTimer");
        return create != nullptr && set != nullptr && wait != nullptr && close != nullptr;
    }

  private:
    static constexpr const wchar_t* kLibrary = L"kernel32.dll";
};

class DebugDelivery {
  public:
    constexpr DebugDelivery() = default;

    // When the executable or the DLL is loaded: a monitor that is there gets the first text.
    void begin() {
        if (is_begun_) return;
        is_begun_ = pool_.find();
        if (is_begun_) look(GetTickCount64());
    }

    // Whether a text is to be given to `push`.
    SP_DETAIL_HOT bool has_monitor() {
        if (has_monitor_.load(std::memory_order_acquire)) return true;
        const std::uint64_t now = GetTickCount64();
        return now >= next_look_.load(std::memory_order_relaxed) && look(now);
    }

    // Null: no memory for it.
    void push(PendingText* text, bool is_recorded) {
        const std::size_t bytes = text == nullptr ? 0 : text->all_bytes();
        if (text == nullptr || waiting_.fetch_add(bytes, std::memory_order_relaxed) + bytes > kMostBytes) {
            waiting_.fetch_sub(bytes, std::memory_order_relaxed);
            if (text != nullptr) PendingText::remove(text);
            (is_recorded ? dropped_ : unrecorded_).fetch_add(1, std::memory_order_relaxed);
        } else {
            text->next = newest_.load(std::memory_order_relaxed);
            while (!newest_.compare_exchange_weak(text->next, text, std::memory_order_seq_cst)) continue;
        }
        if (is_idle_.load(std::memory_order_seq_cst)) work_if_idle();
    }

    // When the process ends, or the DLL is unloaded: delivers what waits, as long as the monitor takes it.
    // Other threads may still be about to use it if they are in the executable, or the caller says so.
    void end(bool is_used = false) {
        has_monitor_.store(false, std::memory_order_relaxed);
        if (is_ending_.exchange(true) || timer_.load() == nullptr || has_lost_threads()) return;
        // Twice: a call that was under way may have started it once more.
        for (int time = 0; time < 2; ++time) {
            pool_.set(timer_.load(), nullptr, 0, 0);
            pool_.wait(timer_.load(), 1);
        }
        if (!is_used && !is_in_executable(this)) pool_.close(timer_.load());
        std::size_t left = 0;
        std::uint64_t since = 0;
        while (deliver() == Round::kStalled) {
            const std::size_t now_left =
                waiting_.load() + (oldest_ != nullptr ? oldest_->size - oldest_->sent : 0);
            if (left != now_left) left = now_left, since = GetTickCount64();
            if (GetTickCount64() - since > kPatienceAtEndMs) break;
            Sleep(kPauseMs);
        }
        discard();
    }

  private:
    enum class Round { kDone, kStalled, kGone };

    static constexpr std::size_t kMostBytes = 1u << 20;
    static constexpr std::uint64_t kLookEachMs = 1000, kPatienceAtEndMs = 3000;
    static constexpr unsigned long kPauseMs = 20;
    static constexpr unsigned kIdleAfter = 50;  // pauses

    // Of those who call at this moment one looks.
    SP_DETAIL_COLD bool look(std::uint64_t now) {
        const ErrnoGuard guard;
        std::uint64_t next = next_look_.load(std::memory_order_relaxed);
        if (now < next || !next_look_.compare_exchange_strong(next, now + kLookEachMs)) return false;
        if (!is_begun_ || is_ending_.load(std::memory_order_relaxed) || !DebugMonitor::is_there())
            return false;
        has_monitor_.store(true, std::memory_order_release);
        return true;
    }

    bool has_texts() const {
        return newest_.load(std::memory_order_seq_cst) != nullptr ||
               dropped_.load(std::memory_order_relaxed) != 0 ||
               unrecorded_.load(std::memory_order_relaxed) != 0;
    }

    SP_DETAIL_COLD void work_if_idle() {
        const ErrnoGuard guard;
        if (!is_idle_.exchange(false)) return;
        if (timer_.load(std::memory_order_relaxed) == nullptr)
            timer_.store(pool_.create(&DebugDelivery::work_of_pool, this, nullptr));
        if (timer_.load(std::memory_order_relaxed) == nullptr) {
            has_monitor_.store(false, std::memory_order_relaxed);
            discard();
            is_idle_.store(true);
        } else {
            work_later();
        }
    }
    void work_later() {
        if (is_ending_.load()) return;
        // Negative: from now on, in 100 ns.
        std::int64_t pause = -std::int64_t{kPauseMs} * 10'000;
        pool_.set(timer_.load(), reinterpret_cast<struct _FILETIME*>(&pause), 0, 0);
    }

    static void __stdcall work_of_pool(void*, void* self, void*) {
        static_cast<DebugDelivery*>(self)->work();
    }

    // One thread at a time: it is started by itself, or when it is idle.
    void work() {
        if (is_ending_.load()) return;
        if (oldest_ != nullptr || has_untold() || has_texts()) {
            idle_rounds_ = 0;
            if (deliver() != Round::kGone) return work_later();
            has_monitor_.store(false, std::memory_order_relaxed);
            next_look_.store(GetTickCount64() + kLookEachMs, std::memory_order_relaxed);
            discard();
        } else if (++idle_rounds_ < kIdleAfter) {
            return work_later();
        }
        idle_rounds_ = 0;
        is_idle_.store(true);
        // What came meanwhile has started nothing.
        if (has_texts() && is_idle_.exchange(false)) work_later();
    }

    Round deliver() {
        DebugMonitor monitor;
        if (!monitor) return Round::kGone;
        for (;;) {
            if (oldest_ == nullptr && has_untold()) {
                if (!tell_dropped(monitor)) return Round::kStalled;
                untold_ = untold_unrecorded_ = 0;
            }
            if (oldest_ == nullptr) take();
            // What found no room came behind these.
            untold_ += dropped_.exchange(0, std::memory_order_relaxed);
            untold_unrecorded_ += unrecorded_.exchange(0, std::memory_order_relaxed);
            if (oldest_ == nullptr && !has_untold()) return Round::kDone;
            if (oldest_ == nullptr) continue;
            if (!monitor.send(*oldest_)) return Round::kStalled;
            remove_oldest();
        }
    }

    // The texts that wait, in the order of their calls.
    void take() {
        PendingText* text = newest_.exchange(nullptr, std::memory_order_acquire);
        while (text != nullptr) {
            PendingText* const before = text->next;
            waiting_.fetch_sub(text->all_bytes(), std::memory_order_relaxed);
            text = text->widened();
            waiting_.fetch_add(text->all_bytes(), std::memory_order_relaxed);
            text->next = oldest_;
            oldest_ = text;
            text = before;
        }
    }
    void remove_oldest() {
        PendingText* const done = oldest_;
        oldest_ = done->next;
        waiting_.fetch_sub(done->all_bytes(), std::memory_order_relaxed);
        PendingText::remove(done);
    }
    void discard() {
        take();
        while (oldest_ != nullptr) remove_oldest();
        dropped_.store(0, std::memory_order_relaxed);
        unrecorded_.store(0, std::memory_order_relaxed);
        untold_ = untold_unrecorded_ = 0;
    }

    bool has_untold() const { return untold_ + untold_unrecorded_ != 0; }

    bool tell_dropped(DebugMonitor& monitor) {
        char digits[24];
        char* at = digits + sizeof digits;
        for (std::uint64_t rest = untold_ + untold_unrecorded_; rest != 0; rest /= 10)
            *--at = static_cast<char>('0' + rest % 10);
        constexpr std::string_view before = "silverpoint: ", behind = " texts of debug output were dropped\n";
        const std::size_t len = static_cast<std::size_t>(digits + sizeof digits - at);
        PendingText* const text =
            PendingText::make(before.size() + len + behind.size(), 1, untold_unrecorded_ == 0);
        if (text == nullptr) return true;
        std::memcpy(text->bytes(), before.data(), before.size());
        std::memcpy(text->bytes() + before.size(), at, len);
        std::memcpy(text->bytes() + before.size() + len, behind.data(), behind.size());
        const bool is_told = monitor.send(*text);
        PendingText::remove(text);
        return is_told;
    }

    std::atomic<bool> has_monitor_{false}, is_idle_{true}, is_ending_{false};
    bool is_begun_ = false;
    std::atomic<std::uint64_t> next_look_{0};
    // What found no room: of those that are recorded, and of the others.
    std::atomic<std::uint64_t> dropped_{0}, unrecorded_{0};
    std::atomic<PendingText*> newest_{nullptr};
    // Bytes of texts that wait or are being delivered.
    std::atomic<std::size_t> waiting_{0};
    std::atomic<void*> timer_{nullptr};
    ThreadPool pool_ = {};
    // Of the thread that works, or ends.
    PendingText* oldest_ = nullptr;
    unsigned idle_rounds_ = 0;
    std::uint64_t untold_ = 0, untold_unrecorded_ = 0;  // of those that were dropped
};

inline constinit DebugDelivery debug_delivery;

// As SP_DETAIL_AT_LOAD: before constructors, and behind destructors.
inline void begin_debug_delivery() {
    debug_delivery.begin();
    std::atexit([] { debug_delivery.end(); });
}
SP_DETAIL_LOAD_SECTION static void (*const debug_delivery_entry)() = begin_debug_delivery;

inline void end_debug_delivery() { debug_delivery.end(true); }

SP_DETAIL_COLD void give_to_debugger(PendingText* text) {
    const ErrnoGuard guard;
    if (text == nullptr) return;
    text = text->widened();
    if (text->unit == 2) {
        OutputDebugStringW(text->wide());
    } else {
        OutputDebugStringA(text->bytes());
    }
    PendingText::remove(text);
}

template <class Char>
SP_DETAIL_NOINLINE void push_debug_text(std::basic_string_view<Char> text, bool is_recorded) {
    debug_delivery.push(PendingText::copy_of(text, is_recorded), is_recorded);
}

template <class Char>
SP_DETAIL_HOT void deliver_debug_text(std::basic_string_view<Char> text, bool is_recorded) {
    static_cast<void>(*const_cast<void (*const volatile*)()>(&debug_delivery_entry));
    if (IsDebuggerPresent() != 0) [[unlikely]]
        return give_to_debugger(PendingText::copy_of(text, is_recorded));
    if (debug_delivery.has_monitor()) [[unlikely]]
        push_debug_text(text, is_recorded);
}

SP_DETAIL_END
