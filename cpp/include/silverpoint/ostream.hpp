// A std::ostream that records what is written to it. For operators << of your own types, manipulators, and
// functions that take std::ostream&. It has a header of its own because <ostream> is expensive to compile.
//
//     print_report(SP_OSTREAM(info));                    one record when the statement ends
//     SP_OSTREAM(debug) << std::hex << value << '\n';
//     auto out = SP_OSTREAM_HELD(info);                  one record when `out` ends
//     out << matrix;
//
// The slow way: everything becomes text when it is written, in microseconds rather than nanoseconds. There is
// one record for each stream, no matter what is written. std::flush and std::endl record nothing by
// themselves. A line end at the very end is left out, others stay. 1,000 bytes are kept, on the stack; the
// rest is cut and counted. While the site is off the stream is in the state `bad`, and nothing is formatted.
#pragma once

#include <ostream>
#include <streambuf>

#include "silverpoint.hpp"

SP_DETAIL_BEGIN

// Text, and how many bytes of it are missing at the end.
struct CutText {
    const char* data;
    std::size_t size;
    std::size_t missing;
};

template <>
struct Codec<CutText> {
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = kVaries;
    static constexpr void sign(Signer& out) { out.add('s'); }
    static std::size_t size(const CutText& text) { return (text.missing == 0 ? 4 : 8) + text.size; }
    static char* put(char* out, const CutText& text) {
        out = put_length(out, text.missing == 0 ? text.size : text.size | kCut);
        if (text.missing != 0) out = put_length(out, text.missing < 0xFFFFFFFF ? text.missing : 0xFFFFFFFF);
        return put_block(out, text.data, text.size);
    }
};

template <>
struct CutBefore<CutText> {
    static constexpr bool kMayBe = true;
    static constexpr bool is_cut(const CutText& text) { return text.missing != 0; }
};

SP_DETAIL_COLD void record_text(void* held, CutText text) {
    void* const place = place_behind_usdt(held, text.data, text.size);
    if (place == nullptr) return;
    StreamSite& site = stream_site(place);
    std::uint64_t head = site.site.head.load(std::memory_order_relaxed);
    if (is_no_head(head)) {
        head = complete_site<CutText>(site.site, Kind::kStream, {}, "{}");
        if (head == 0) return;
    }
    record_completed(head, site.site, text);
}

// Keeps what fits, counts the rest.
class TextBuffer : public std::streambuf {
  public:
    TextBuffer() { setp(text_, text_ + sizeof text_); }
    CutText text() const {
        auto size = static_cast<std::size_t>(pptr() - pbase());
        if (missing_ == 0 && size > 0 && text_[size - 1] == '\n') --size;
        std::size_t missing = missing_;
        // Not within a character.
        if (missing > 0) {
            const std::size_t most = size;
            while (size > 0 && most - size < 3 &&
                   (static_cast<unsigned char>(text_[size - 1]) & 0xC0) == 0x80)
                --size;
            if (size > 0 && static_cast<unsigned char>(text_[size - 1]) >= 0xC0) --size;
            missing += most - size;
        }
        return {text_, size, missing};
    }

  protected:
    int_type overflow(int_type c) override {
        if (!traits_type::eq_int_type(c, traits_type::eof())) ++missing_;
        return traits_type::not_eof(c);
    }
    std::streamsize xsputn(const char* from, std::streamsize count) override {
        const std::streamsize room = epptr() - pptr();
        const std::streamsize kept = count < room ? count : room;
        SP_DETAIL_MEMCPY(pptr(), from, static_cast<std::size_t>(kept));
        pbump(static_cast<int>(kept));
        missing_ += static_cast<std::size_t>(count - kept);
        return count;
    }

  private:
    std::size_t missing_ = 0;
    char text_[1000];
};

SP_DETAIL_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// Made by SP_OSTREAM_HELD.
// Thread-safe: its own thread. Cost: text as it is written, and one record at the end; it sets up a
// std::ostream.
class SP_DETAIL_VISIBLE OStream : private detail::TextBuffer, public std::ostream {
  public:
    SP_DETAIL_OWN explicit OStream(void* site) : std::ostream(nullptr), site_(site) {
        if (site_ != nullptr) rdbuf(static_cast<detail::TextBuffer*>(this));
    }
    SP_DETAIL_OWN ~OStream() override {
        if (site_ == nullptr) return;
        const detail::CutText written = text();
        if (written.size != 0 || written.missing != 0) detail::record_text(site_, written);
    }
    // Itself, as an lvalue.
    SP_DETAIL_OWN std::ostream& stream() { return *this; }

  private:
    void* site_;  // or its probe (detail/usdt_held.hpp)
};

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

#define SP_OSTREAM_HELD(level) \
    (::silverpoint::OStream(SP_DETAIL_UNTIL_END(SP_DETAIL_ON(level, kStream, "", "{}"))))
// A std::ostream& that lives until the statement ends.
#define SP_OSTREAM(level) (SP_OSTREAM_HELD(level).stream())
