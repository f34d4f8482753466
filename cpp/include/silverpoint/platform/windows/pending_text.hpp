// A text of debug output on its way to a debugger or a monitor: a copy, converted when it arrives there.
#pragma once

#include <cstring>
#include <new>
#include <string_view>

#include "api.hpp"

SP_DETAIL_BEGIN

struct PendingText {
    // Of a message in a monitor's buffer (dbwin.hpp).
    static constexpr std::size_t kPartBytes = 4067;

    PendingText* next;
    std::size_t size, sent;  // units
    unsigned unit;           // bytes: 1 is UTF-8, 2 UTF-16, 4 UTF-32
    bool is_recorded;        // the session of this process has it

    char* bytes() { return reinterpret_cast<char*>(this + 1); }
    wchar_t* wide() { return reinterpret_cast<wchar_t*>(this + 1); }
    std::size_t all_bytes() const { return sizeof(PendingText) + (size + 1) * unit; }

    // With a zero behind it. Null: no memory.
    static PendingText* make(std::size_t size, unsigned unit, bool is_recorded = false) {
        void* const memory = HeapAlloc(GetProcessHeap(), 0, sizeof(PendingText) + (size + 1) * unit);
        if (memory == nullptr) return nullptr;
        auto* const text = ::new (memory) PendingText{nullptr, size, 0, unit, is_recorded};
        std::memset(text->bytes() + size * unit, 0, unit);
        return text;
    }
    // A zero within a text ends it, for debuggers and monitors.
    template <class Char>
    static PendingText* copy_of(std::basic_string_view<Char> text, bool is_recorded) {
        text = text.substr(0, text.find(Char{}));
        PendingText* const copy = make(text.size(), sizeof(Char), is_recorded);
        if (copy != nullptr && !text.empty())
            std::memcpy(copy->bytes(), text.data(), text.size() * sizeof(Char));
        return copy;
    }
    static void remove(PendingText* text) { HeapFree(GetProcessHeap(), 0, text); }

    // The text as UTF-16, in the place of this; or unchanged: without memory, or if its bytes are no UTF-8.
    // Then they belong to the system's code page.
    PendingText* widened() {
        PendingText* const wide = unit == 4 ? from_utf32() : unit == 1 ? from_utf8() : nullptr;
        if (wide == nullptr) return this;
        wide->next = next;
        remove(this);
        return wide;
    }

    // The next bytes in the system's code page, for one message; returns the units of the text in them.
    std::size_t next_part(char (&to)[kPartBytes], std::size_t& bytes_of_part) {
        std::size_t units = size - sent < kPartBytes ? size - sent : kPartBytes;
        bytes_of_part = units;
        if (units == 0) return 0;
        if (unit != 2) {
            // (Without memory for its conversion a text of UTF-32 is its lowest bytes.)
            for (std::size_t at = 0; at < units; ++at) to[at] = bytes()[(sent + at) * unit];
            return units;
        }
        for (;; units /= 2) {
            if (units < size - sent && units > 1 && is_first_half(wide()[sent + units - 1])) --units;
            const int len = WideCharToMultiByte(0, 0, wide() + sent, static_cast<int>(units), to,
                                                static_cast<int>(kPartBytes), nullptr, nullptr);
            if (len <= 0 && units > 1) continue;
            bytes_of_part = len > 0 ? static_cast<std::size_t>(len) : 0;
            return units;
        }
    }

  private:
    static bool is_first_half(wchar_t unit) { return (unit & 0xFC00) == 0xD800; }

    PendingText* from_utf8() {
        constexpr unsigned kUtf8 = 65001, kRefuseInvalid = 8;
        constexpr std::size_t kMost = 0x7FFF'FFFF;
        if (size > kMost) return nullptr;
        const int len = static_cast<int>(size);
        const int units = len == 0 ? 0 : MultiByteToWideChar(kUtf8, kRefuseInvalid, bytes(), len, nullptr, 0);
        if (units <= 0 && len != 0) return nullptr;
        PendingText* const made = make(static_cast<std::size_t>(units), 2, is_recorded);
        if (made != nullptr && units != 0)
            MultiByteToWideChar(kUtf8, kRefuseInvalid, bytes(), len, made->wide(), units);
        return made;
    }

    PendingText* from_utf32() {
        PendingText* const made = make(size * 2, 2, is_recorded);
        if (made == nullptr) return nullptr;
        std::size_t units = 0;
        for (std::size_t at = 0; at < size; ++at) {
            std::uint32_t c = 0;
            std::memcpy(&c, bytes() + at * 4, 4);
            if (c > 0x10'FFFF || (c & 0xFFFF'F800) == 0xD800) c = 0xFFFD;
            if (c >= 0x1'0000) {
                made->wide()[units++] = static_cast<wchar_t>(0xD800 + ((c - 0x1'0000) >> 10));
                c = 0xDC00 + ((c - 0x1'0000) & 0x3FF);
            }
            made->wide()[units++] = static_cast<wchar_t>(c);
        }
        made->wide()[units] = 0;
        made->size = units;
        return made;
    }
};

SP_DETAIL_END
