// The bytes of an event that are put together. It runs within a tracepoint: nothing is allocated but by the
// system.
#pragma once

#include <silverpoint/detail/sys.hpp>
#include <string_view>

namespace silverpoint::probes {

// Bytes that are put together; after the first that has no room nothing is added.
class Output {
  public:
    Output() = default;
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    ~Output() {
        if (bytes_ != own_) detail::unmap(bytes_, room_);
    }

    void add(const void* bytes, std::size_t size) {
        if (!is_whole_ || size == 0) return;
        if (bytes == nullptr || (size > room_ - size_ && !grow(size))) {
            is_whole_ = false;
            return;
        }
        std::memcpy(bytes_ + size_, bytes, size);
        size_ += size;
    }
    void add(std::string_view text) { add(text.data(), text.size()); }
    void put(char c) { add(&c, 1); }
    // Takes back what was added since it had this size.
    void cut(std::size_t size) {
        if (size < size_) size_ = size;
    }
    // Replaces bytes.
    void patch(std::size_t at, const void* bytes, std::size_t size) {
        if (is_whole_) std::memcpy(bytes_ + at, bytes, size);
    }
    // It cannot be whole.
    void fail() { is_whole_ = false; }
    std::size_t size() const { return size_; }
    bool is_whole() const { return is_whole_; }
    const char* bytes() const { return bytes_; }
    // A text, whose length is stored before it when it ends.
    std::size_t begin_text() {
        add("\0\0\0\0", 4);
        return size();
    }
    void end_text(std::size_t from) {
        if (!is_whole()) return;
        const auto length = static_cast<std::uint32_t>(size() - from);
        std::memcpy(bytes_ + from - 4, &length, 4);
    }
    void code_point(std::uint32_t c) {
        if (c < 0x80) return put(static_cast<char>(c));
        if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = 0xFFFD;
        const auto tail = [&](unsigned shift) { put(static_cast<char>(0x80 | (c >> shift & 0x3F))); };
        if (c < 0x800) {
            put(static_cast<char>(0xC0 | c >> 6));
        } else if (c < 0x10000) {
            put(static_cast<char>(0xE0 | c >> 12));
            tail(6);
        } else {
            put(static_cast<char>(0xF0 | c >> 18));
            tail(12);
            tail(6);
        }
        tail(0);
    }
    void decimal(std::uint64_t value) {
        char digits[20];
        unsigned at = sizeof digits;
        do digits[--at] = static_cast<char>('0' + value % 10);
        while ((value /= 10) != 0);
        add(digits + at, sizeof digits - at);
    }
    void decimal(std::int64_t value) {
        if (value < 0) put('-');
        decimal(value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value));
    }

  private:
    bool grow(std::size_t size) {
        std::size_t room = 4 * room_;
        while (room - size_ < size) room *= 4;
        if (room > kMost) return false;
        void* const made = detail::map_private(room);
        if (made == nullptr) return false;
        std::memcpy(made, bytes_, size_);
        if (bytes_ != own_) detail::unmap(bytes_, room_);
        bytes_ = static_cast<char*>(made);
        room_ = room;
        return true;
    }

    // No tracer takes an event of this size.
    static constexpr std::size_t kMost = std::size_t{16} << 20;
    char own_[2048];  // written before it is read
    char* bytes_ = own_;
    std::size_t room_ = sizeof own_, size_ = 0;
    bool is_whole_ = true;
};

}  // namespace silverpoint::probes
