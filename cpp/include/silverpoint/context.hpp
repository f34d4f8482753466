// Fields of all records that a thread makes within a scope (docs/guide/context.md).
//
//     SP_CONTEXT("request", id, "user", name);       until the end of the scope: records have both fields
//     silverpoint::Context scope("request", id);     the same as an object; it ends in its thread
//
//     auto taken = silverpoint::capture_context();   what is open here, to pass to another thread
//     … in another thread: auto scope = taken.enter();
//     pool.post(silverpoint::with_context(work));    a callable that carries what is open here
//     placed(silverpoint::carry(order));             a value that carries it: through a signal's queue, say
//
// A name is a text, a value anything that can be recorded. A field of an inner scope hides a field of the
// same name of an outer one. Entering costs some tens of nanoseconds. A tracepoint inside costs what it costs
// outside, except the first, which states the fields. A thread has 1,424 bytes for all open scopes, and at
// most 24 of them: what has no room is cut, then "…", then left out. Only capture_context() allocates.
#pragma once

#include "detail/cbor.hpp"
#include "detail/given.hpp"
#include "detail/refill.hpp"

SP_DETAIL_BEGIN

// The contexts of the calling thread; null when it has no place for any.
SP_DETAIL_COLD Thread* begin_contexts() {
    const SystemGuard guard;
    Lane* lane = begin_thread(stack_mark(SP_DETAIL_FRAME_ADDRESS()));
    return lane == nullptr ? nullptr : thread_of(lane);
}
inline Thread* thread_of_contexts() {
    Lane* lane = tls_lane;
    if (lane == &empty_lane || thread_of(lane)->magic != kThreadMagic) [[unlikely]]
        return begin_contexts();
    return thread_of(lane);
}

// Brings the next record of each lane to the cold path.
inline void ask_lanes(Thread& thread) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    for (Lane& lane : thread.lanes) set_limit(lane, nullptr);
}

inline std::uint64_t enter_context(const char* pairs, std::size_t size, bool cut) {
    Thread* thread = thread_of_contexts();
    if (thread == nullptr) return 0;
    const std::uint64_t number = thread->contexts.push(pairs, size, cut);
    if (number != 0) ask_lanes(*thread);
    return number;
}

inline void leave_context(std::uint64_t number) {
    Thread* thread = number == 0 ? nullptr : thread_of_contexts();
    if (thread != nullptr && thread->contexts.remove(number)) ask_lanes(*thread);
}

// Names and values of one scope while they are being put together.
class ContextFields {
  public:
    ContextFields() {
        const Thread* thread = thread_of_contexts();
        room_ = thread == nullptr ? 0 : thread->contexts.room();
    }

    template <class T>
    void add(std::string_view name, const T& value) {
        const std::size_t begin = size_;
        if (!put_name(name) || !put_value(value)) {
            size_ = begin;
            cut_ = true;
        }
    }
    std::uint64_t enter() const { return enter_context(bytes_, size_, cut_); }

  private:
    bool put(const char* data, std::size_t size) {
        if (size > room_ - size_) return false;
        std::memcpy(bytes_ + size_, data, size);
        size_ += size;
        return true;
    }
    bool put_name(std::string_view name) {
        if (name.size() > 255) {
            std::size_t kept = 255;
            while (kept > 0 && (static_cast<unsigned char>(name[kept]) & 0xC0) == 0x80) --kept;
            name = name.substr(0, kept);
        }
        const char head[2] = {static_cast<char>(name.size() < 24 ? 0x60 | name.size() : 0x78),
                              static_cast<char>(name.size())};
        return put(head, name.size() < 24 ? 1 : 2) && put(name.data(), name.size());
    }
    template <class T>
    bool put_value(const T& value) {
        CborWriter out(bytes_ + size_, bytes_ + room_);
        const bool whole = put_item(out, value);
        if (!whole) cut_ = true;
        if (!out.has_room()) {
            cut_ = true;
            return put("\x63\u2026", 4);
        }
        shorten(static_cast<std::size_t>(out.at() - bytes_));
        return true;
    }
    // A text's length in as few bytes as it needs.
    void shorten(std::size_t end) {
        char* begin = bytes_ + size_;
        size_ = end;
        if (static_cast<unsigned char>(*begin) != 0x79) return;
        const std::size_t size = end - static_cast<std::size_t>(begin - bytes_) - 3;
        if (size > 255) return;
        const std::size_t head = size < 24 ? 1 : 2;
        begin[0] = static_cast<char>(size < 24 ? 0x60 | size : 0x78);
        if (head == 2) begin[1] = static_cast<char>(size);
        SP_DETAIL_MEMMOVE(begin + head, begin + 3, size);
        size_ -= 3 - head;
    }

    std::size_t room_ = 0, size_ = 0;
    bool cut_ = false;
    char bytes_[kContextBytes];  // written before it is read
};

inline void add_fields(ContextFields&) {}
template <class T, class... Rest>
void add_fields(ContextFields& fields, std::string_view name, const T& value, const Rest&... rest) {
    fields.add(name, value);
    add_fields(fields, rest...);
}

SP_DETAIL_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// A scope with fields. Belongs to the thread that made it; scopes may end in any order.
// Thread-safe: its own thread. Cost: entering, some tens of nanoseconds; the next record states the fields.
class SP_DETAIL_NODISCARD_VISIBLE Context {
  public:
    // Names and values in turn.
    template <class Before, class Value>
    SP_DETAIL_OWN explicit Context(const detail::Given<Before, Value>& given) {
        detail::with_given(given, [this](const auto&... all) { this->enter(all...); });
    }
    template <class T, class... Rest>
    SP_DETAIL_OWN explicit Context(std::string_view name, const T& value, const Rest&... rest) {
        enter(name, value, rest...);
    }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    SP_DETAIL_OWN ~Context() { detail::leave_context(number_); }

    // Whether the fields are recorded: not in a process without a session, nor more than 24 scopes deep.
    SP_DETAIL_OWN explicit operator bool() const { return number_ != 0; }

  private:
    friend class CapturedContext;
    friend class TraceContext;
    struct Entered {
        std::uint64_t number;
    };
    SP_DETAIL_OWN explicit Context(Entered entered) : number_(entered.number) {}

    template <class... All>
    SP_DETAIL_OWN void enter(const All&... all) {
        static_assert(sizeof...(All) % 2 == 0, "silverpoint: a context has names and values in turn");
        detail::ContextFields fields;
        detail::add_fields(fields, all...);
        number_ = fields.enter();
    }

    std::uint64_t number_ = 0;
};

// The fields of the scopes that were open in a thread, to be used in another one.
// Thread-safe: any thread may read it. Cost: a copy allocates.
class SP_DETAIL_VISIBLE CapturedContext {
  public:
    CapturedContext() = default;
    SP_DETAIL_OWN CapturedContext(const CapturedContext& other)
        : CapturedContext(other.pairs_, other.size_, other.cut_) {}
    SP_DETAIL_OWN CapturedContext(CapturedContext&& other) noexcept { swap(other); }
    SP_DETAIL_OWN CapturedContext& operator=(CapturedContext other) noexcept {
        swap(other);
        return *this;
    }
    SP_DETAIL_OWN ~CapturedContext() { delete[] pairs_; }

    // Adds its fields to the records of this thread, on top of those that are open, until the returned object
    // ends.
    SP_DETAIL_OWN Context enter() const {
        return Context(Context::Entered{size_ == 0 ? 0 : detail::enter_context(pairs_, size_, cut_)});
    }
    // Whether it has no fields.
    SP_DETAIL_OWN bool empty() const { return size_ == 0; }

  private:
    friend class TraceContext;
    friend CapturedContext capture_context();
    SP_DETAIL_OWN CapturedContext(const char* pairs, std::size_t size, bool cut) : cut_(cut) {
        if (size == 0) return;
        pairs_ = new char[size];
        SP_DETAIL_MEMCPY(pairs_, pairs, size);
        size_ = size;
    }
    SP_DETAIL_OWN void swap(CapturedContext& other) noexcept {
        std::swap(pairs_, other.pairs_);
        std::swap(size_, other.size_);
        std::swap(cut_, other.cut_);
    }

    char* pairs_ = nullptr;
    std::size_t size_ = 0;
    bool cut_ = false;
};

// What is open in this thread now.
// Thread-safe: any thread. Cost: an allocation, where fields are open.
inline CapturedContext capture_context() {
    detail::Thread* thread = detail::thread_of_contexts();
    if (thread == nullptr) return {};
    detail::Contexts& contexts = thread->contexts;
    char pairs[detail::kContextBytes];
    std::size_t size = 0;
    contexts.alone([&] {
        size = contexts.size();
        SP_DETAIL_MEMCPY(pairs, contexts.pairs(), size);
    });
    return {pairs, size, contexts.is_cut()};
}

// A callable that does the same as this one, in the context that is open here now, no matter where and when
// it is called.
// Thread-safe: any thread. Cost: that of capture_context; each call, that of a Context.
template <class Call>
auto with_context(Call&& call) {
    return [taken = capture_context(),
            call = std::forward<Call>(call)]<class... Args>(Args&&... args) mutable -> decltype(auto) {
        const Context scope = taken.enter();
        return call(std::forward<Args>(args)...);
    };
}

// A value and the context that was open where it was made: for queues of values, such as a signal's.
template <class T>
struct SP_DETAIL_VISIBLE Carried {
    T value;
    CapturedContext context;
};
// Thread-safe: any thread. Cost: that of capture_context.
template <class T>
Carried<std::decay_t<T>> carry(T&& value) {
    return {std::forward<T>(value), capture_context()};
}

// A callable that accepts what `carry` has made, and calls this one with the value, in its context.
// Thread-safe: any thread. Cost: that of `call`; each call, that of a Context.
template <class Call>
auto carried(Call&& call) {
    return [call = std::forward<Call>(call)]<class T, class... Rest>(
               const Carried<T>& given, Rest&&... rest) mutable -> decltype(auto) {
        const Context scope = given.context.enter();
        return call(given.value, std::forward<Rest>(rest)...);
    };
}

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

// Attaches fields to all records until the end of the scope it stands in.
#define SP_CONTEXT(...) \
    const ::silverpoint::Context SP_DETAIL_JOIN(sp_context_, __COUNTER__)(SP_DETAIL_GIVEN(__VA_ARGS__))
