// Streams that are held in a variable: one record at the end, pieces as they come.
//
//   auto line = SP_STREAM(info);
//   line << "pos" << x;
//   if (far) line << "far" << y;          one record, at the end of the scope or at line.end()
//
//   void describe(silverpoint::DynamicStream& out);     may be passed on
//
// The pieces are not known at compile time. So literals are recorded too, and each piece carries its type:
// one CBOR item each, in one value of type `v` (spec/templates.md). It costs some tens of nanoseconds a
// piece, several times what SP_INFO << … costs. The pieces are kept on the stack, 1,000 bytes of them:
// nothing is allocated. What does not fit is left out, texts are cut, and the record ends with `…(+N)`: N
// pieces are not whole. While the site is off nothing is kept. Arguments of << are still evaluated, unless
// you check first: if (line) line << costly().
#pragma once

#include "unit.hpp"
#include "usdt_held.hpp"

SP_DETAIL_BEGIN

// One CBOR item, packed as type `v`.
struct ItemRef {
    const char* data;
    std::size_t size;
};

template <>
struct Codec<ItemRef> {
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('v'); }
    static std::size_t size(const ItemRef& item) { return 4 + item.size; }
    static char* put(char* out, const ItemRef& item) {
        return put_block(put_length(out, item.size), item.data, item.size);
    }
};

SP_DETAIL_COLD void record_pieces(void* held, ItemRef item, bool cut) {
    void* const place = place_behind_usdt(held, item.data, item.size);
    if (place == nullptr) return;
    StreamSite& site = stream_site(place);
    std::uint64_t head = site.site.head.load(std::memory_order_relaxed);
    if (is_no_head(head)) {
        head = complete_site<ItemRef>(site.site, Kind::kStream, {}, {});
        if (head == 0) return;
    }
    record_completed(head | (cut ? kTruncated : 0), site.site, item);
}

SP_DETAIL_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// Made by SP_STREAM. Belongs to one thread at a time.
class SP_DETAIL_VISIBLE DynamicStream {
  public:
    SP_DETAIL_OWN explicit DynamicStream(void* site) : site_(site) {
        if (site_ != nullptr) pieces_[0] = static_cast<char>(0x9F);  // an array without a length
    }
    DynamicStream(const DynamicStream&) = delete;
    DynamicStream& operator=(const DynamicStream&) = delete;
    SP_DETAIL_OWN ~DynamicStream() { end(); }

    template <class T>
        requires(detail::Small<T>)
    SP_DETAIL_OWN DynamicStream& operator<<(T value) {
        if (site_ != nullptr) add(value);
        return *this;
    }
    template <class T>
        requires(!detail::Small<T>)
    SP_DETAIL_OWN DynamicStream& operator<<(const T& value) {
        if (site_ != nullptr) add(value);
        return *this;
    }
    // The unit is a piece of its own.
    template <class Unit, class T>
    SP_DETAIL_OWN DynamicStream& operator<<(const detail::InUnit<Unit, T>& of) {
        return *this << of.value << Unit::text;
    }
    // Whether anything is recorded.
    SP_DETAIL_OWN explicit operator bool() const { return site_ != nullptr; }
    // Records now. What is written later is not recorded; nothing when nothing was written.
    SP_DETAIL_OWN void end() {
        void* const site = std::exchange(site_, nullptr);
        if (site == nullptr || (size_ == 1 && cut_ == 0)) return;
        detail::CborWriter out(pieces_ + size_, pieces_ + sizeof pieces_);
        if (cut_ != 0) {
            char room[24], text[32] = "\u2026(+";
            const auto digits = detail::digits_of(cut_, 10, room);
            std::size_t len = 5;
            SP_DETAIL_MEMCPY(text + len, digits.data(), digits.size());
            len += digits.size();
            text[len++] = ')';
            out.text(text, len);
        }
        out.end();
        detail::record_pieces(site, {pieces_, static_cast<std::size_t>(out.at() - pieces_)}, cut_ != 0);
    }

  private:
    template <class T>
    SP_DETAIL_NOINLINE SP_DETAIL_OWN void add(const T& value) {
        // After the first that is not whole nothing is added: pieces behind a gap would mislead.
        if (cut_ != 0) {
            ++cut_;
            return;
        }
        detail::CborWriter out(pieces_ + size_, pieces_ + sizeof pieces_ - kMark);
        const bool whole = detail::put_item(out, value);
        if (!whole || !out.has_room()) ++cut_;
        if (out.has_room()) size_ = static_cast<std::size_t>(out.at() - pieces_);
    }

    static constexpr std::size_t kRoom = 1000, kMark = 40;
    void* site_;             // without its type, which is hidden; or its probe (usdt_held.hpp)
    std::uint64_t cut_ = 0;  // pieces that are not whole
    std::size_t size_ = 1;
    char pieces_[kRoom + kMark];  // written before it is read
};

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

// An expression: a stream that records when it ends.
#define SP_STREAM(level) \
    (::silverpoint::DynamicStream(SP_DETAIL_UNTIL_END(SP_DETAIL_ON(level, kStream, "", ""))))
