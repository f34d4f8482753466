// Arguments that are not steady (steady.hpp), evaluated before anything of their record is begun.
//
//     view, getter, iterator …  ──once──▶ scratch, on the stack, beyond that mapped ──▶ the record, as bytes
//
// No lane is busy while the program's code runs. So it may throw, be cancelled, jump out, fork or record
// itself: nothing is left behind.
#pragma once

#include "refill.hpp"
#include "within.hpp"

SP_DETAIL_BEGIN

// Room that grows up to the largest record. (Memory is mapped, since malloc is not safe in signal handlers.)
class Scratch {
  public:
    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        if (begin_ != own_) release();
    }

    char* begin() { return begin_; }
    char* fit(char* out, std::size_t size) {
        return size <= static_cast<std::size_t>(end_ - out) ? out : grow(out, size);
    }
    std::size_t mark(const char* out) const { return static_cast<std::size_t>(out - begin_); }
    char* at(std::size_t mark) { return begin_ + mark; }
    char* refuse() {
        cause_ = Cause::kOther;
        return nullptr;
    }
    void cut() { is_cut_ = true; }
    bool is_cut() const { return is_cut_; }
    // Why there was no room.
    Cause cause() const { return cause_; }

  private:
    SP_DETAIL_COLD char* grow(char* out, std::size_t size) {
        const std::size_t used = mark(out);
        cause_ = Cause::kTooLarge;
        if (size > kRecordMax || used + size > kRecordMax) return nullptr;
        const ErrnoGuard guard;
        std::size_t room = 4 * static_cast<std::size_t>(end_ - begin_);
        while (room < used + size) room *= 4;
        void* made = map_private(room);
        if (made == nullptr) {
            cause_ = Cause::kNoMemory;
            return nullptr;
        }
        std::memcpy(made, begin_, used);
        if (begin_ != own_) release();
        begin_ = static_cast<char*>(made);
        end_ = begin_ + room;
        return begin_ + used;
    }
    SP_DETAIL_COLD void release() {
        const ErrnoGuard guard;
        unmap(begin_, static_cast<std::size_t>(end_ - begin_));
    }

    char own_[1024];  // written before it is read
    char* begin_ = own_;
    char* end_ = own_ + sizeof own_;
    Cause cause_ = Cause::kOther;
    bool is_cut_ = false;
};

// A T in packed form.
template <class T>
struct Piece {
    const char* data;
    std::size_t len;
};
template <class T>
struct Codec<Piece<T>> {
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = CodecOf<T>::fixed;
    SP_DETAIL_HOT static std::size_t size(const Piece<T>& piece) {
        return fixed == kVaries ? piece.len : fixed;
    }
    SP_DETAIL_HOT static char* put(char* out, const Piece<T>& piece) {
        return put_block(out, piece.data, size(piece));
    }
};

// What represents an argument in its record: flat ones represent themselves.
template <class T>
using Evaluated = std::conditional_t<kIsFlat<T>, T, Piece<T>>;

// A record that cannot be made is counted.
SP_DETAIL_COLD void lose(const Entry& entry, Cause cause) {
    const ErrnoGuard guard;
    unsigned number = 0;
    Lane* lane = entry.lane != nullptr ? entry.lane : enter_lane(entry, number);
    if (lane == nullptr) return;
    count_loss(*lane, cause);
    set_limit(*lane, nullptr);
    make_ready(lane);
}

// Evaluates what is not flat, each once and in order, and calls `then` with what represents the arguments.
// Returns its result, or counts the record as lost and returns 0. `then` also learns whether something was
// cut.
template <class... Ts, class Then>
SP_DETAIL_HOT std::uint64_t with_evaluated(const Entry& entry, const Then& then, const Ts&... args) {
    Scratch scratch;
    std::size_t ends[sizeof...(Ts) + 1] = {}, count = 0;
    char* out = scratch.begin();
    const auto evaluate = [&]<class T>(const T& value) {
        if constexpr (!kIsFlat<T>) {
            out = Within<T>::put(scratch, out, value);
            if (out == nullptr) return false;
        }
        ends[++count] = scratch.mark(out);
        if constexpr (!kIsFlat<T> && CodecOf<T>::fixed != kVaries)
            if (ends[count] - ends[count - 1] != CodecOf<T>::fixed) return scratch.refuse() != nullptr;
        return true;
    };
    if (!(evaluate.template operator()<Ts>(args) && ...)) {
        lose(entry, scratch.cause());
        return 0;
    }
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        const auto evaluated = [&]<std::size_t kAt, class T>(const T& value) -> decltype(auto) {
            if constexpr (kIsFlat<T>) {
                return (value);
            } else {
                return Piece<T>{scratch.at(ends[kAt]), ends[kAt + 1] - ends[kAt]};
            }
        };
        return then(scratch.is_cut(), evaluated.template operator()<Index, Ts>(args)...);
    }(std::index_sequence_for<Ts...>{});
}

SP_DETAIL_END
