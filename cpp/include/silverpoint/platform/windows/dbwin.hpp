// Sends texts to a debug monitor, by the protocol of OutputDebugString (DBWIN). The sender that has the mutex
// waits for an empty buffer, writes into it, and sets an event.
//
// The end of the buffer says of a text whether the sender's session has it, too. `silverpoint debug`, which
// reads sessions, then shows it once. Other monitors read up to the zero behind the text.
#pragma once

#include <cstring>

#include "pending_text.hpp"
#include "process.hpp"

SP_DETAIL_BEGIN

// The objects of a monitor. They are open for a moment only: who keeps them open keeps them in being when the
// monitor has ended.
class DebugMonitor {
  public:
    // Whether there is one, or others keep its objects in being.
    static bool is_there() {
        void* const mapping = OpenFileMappingW(kMapWrite, 0, kMapping);
        if (mapping == nullptr) return false;
        CloseHandle(mapping);
        return true;
    }

    DebugMonitor() {
        mapping_ = OpenFileMappingW(kMapWrite, 0, kMapping);
        if (mapping_ == nullptr) return;
        buffer_ = static_cast<char*>(MapViewOfFile(mapping_, kMapWrite, 0, 0, kBufferBytes));
        ready_ = OpenEventW(kSynchronize, 0, L"DBWIN_BUFFER_READY");
        data_ = OpenEventW(kModify, 0, L"DBWIN_DATA_READY");
        mutex_ = CreateMutexExW(nullptr, L"DBWinMutex", 0, kSynchronize | 1);
    }
    ~DebugMonitor() {
        if (buffer_ != nullptr) UnmapViewOfFile(buffer_);
        for (void* const handle : {mapping_, ready_, data_, mutex_})
            if (handle != nullptr) CloseHandle(handle);
    }
    DebugMonitor(const DebugMonitor&) = delete;
    DebugMonitor& operator=(const DebugMonitor&) = delete;

    explicit operator bool() const {
        return buffer_ != nullptr && ready_ != nullptr && data_ != nullptr && mutex_ != nullptr;
    }

    // Sends what is left of a text. False: the monitor, or another sender, has stood still for a moment.
    bool send(PendingText& text) {
        if (!wait(mutex_)) return false;
        bool is_sent = false;
        do {
            char part[kTextBytes];
            std::size_t size = 0;
            const std::size_t taken = text.next_part(part, size);
            if (!wait(ready_)) break;
            const std::uint32_t pid = static_cast<std::uint32_t>(GetCurrentProcessId());
            std::memcpy(buffer_, &pid, sizeof pid);
            std::memcpy(buffer_ + sizeof pid, part, size);
            buffer_[sizeof pid + size] = 0;
            Note note{};
            if (text.is_recorded) note = {kNoteBegin, pid, static_cast<std::uint32_t>(size), start_time()};
            std::memcpy(buffer_ + kBufferBytes - sizeof note, &note, sizeof note);
            SetEvent(data_);
            text.sent += taken;
            is_sent = text.sent == text.size;
        } while (!is_sent);
        ReleaseMutex(mutex_);
        return is_sent;
    }

  private:
    static constexpr unsigned long kMapWrite = 2, kSynchronize = 0x0010'0000, kModify = 2;
    static constexpr unsigned long kPatienceMs = 100;
    static constexpr std::size_t kBufferBytes = 4096;
    static constexpr const wchar_t* kMapping = L"DBWIN_BUFFER";
    // Names the text and the session: one that stands there of an earlier text is known by that. All zeros:
    // the text is in no session.
    struct Note {
        std::uint64_t begin;
        std::uint32_t pid, bytes;
        std::uint64_t start;  // of the process
    };
    static constexpr std::uint64_t kNoteBegin = 0x6472'6f63'6572'5053;  // "SPrecord"
    // Without the process, the zero and the note.
    static constexpr std::size_t kTextBytes = kBufferBytes - 5 - sizeof(Note);
    static_assert(kTextBytes == PendingText::kPartBytes);

    // (What a sender left that has died is as good as released.)
    static bool wait(void* object) {
        constexpr unsigned long kSignalled = 0, kAbandoned = 0x80;
        const unsigned long result = WaitForSingleObject(object, kPatienceMs);
        return result == kSignalled || result == kAbandoned;
    }

    void *mapping_ = nullptr, *ready_ = nullptr, *data_ = nullptr, *mutex_ = nullptr;
    char* buffer_ = nullptr;
};

SP_DETAIL_END
