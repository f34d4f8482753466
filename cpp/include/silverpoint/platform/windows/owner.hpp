// The user of this process, and what is his alone, on Windows.
#pragma once

#include <cstring>

#include "api.hpp"

SP_DETAIL_BEGIN

// A security identifier, in Windows's form: a revision, the count of parts, an authority, parts of 4 bytes.
class UserId {
  public:
    UserId() = default;
    explicit UserId(const void* bytes) {
        std::uint8_t parts = 0;
        std::memcpy(&parts, static_cast<const char*>(bytes) + 1, 1);
        if (parts > 15) return;
        size_ = 8 + std::size_t{parts} * 4;
        std::memcpy(bytes_, bytes, size_);
    }
    std::size_t size() const { return size_; }
    const char* bytes() const { return bytes_; }
    bool operator==(const UserId& other) const {
        return size_ == other.size_ && std::memcmp(bytes_, other.bytes_, size_) == 0;
    }

  private:
    std::size_t size_ = 0;
    char bytes_[8 + 15 * 4] = {};
};

// Who the process runs as; and who owns what it makes, which may be a group (of administrators).
enum class Identity { kUser = 1, kOwner = 4 };

// None if Windows does not tell.
SP_DETAIL_COLD UserId user_of_process(Identity which) {
    using Open = int(__stdcall*)(void*, unsigned long, void**);
    using Ask = int(__stdcall*)(void*, int, void*, unsigned long, unsigned long*);
    const auto open = system_function<Open>(L"kernelbase.dll", "OpenProcessToken");
    const auto ask = system_function<Ask>(L"kernelbase.dll", "GetTokenInformation");
    constexpr unsigned long kQuery = 8;
    void* token = nullptr;
    if (open == nullptr || ask == nullptr || open(GetCurrentProcess(), kQuery, &token) == 0) return {};
    // Begins with a pointer to the identifier, behind it.
    alignas(8) char answer[256] = {};
    unsigned long len = 0;
    const bool done = ask(token, static_cast<int>(which), answer, sizeof answer, &len) != 0;
    CloseHandle(token);
    const void* identifier = nullptr;
    std::memcpy(&identifier, answer, sizeof identifier);
    return done && identifier != nullptr ? UserId(identifier) : UserId();
}

// Room for a security descriptor with an owner.
struct OwnerAnswer {
    alignas(8) char bytes[256] = {};
    unsigned long len = 0;
};

// Whether the owner in a descriptor is the user of this process. The second word says where it stands.
SP_DETAIL_COLD bool is_owner_this_user(const OwnerAnswer& answer) {
    std::uint32_t at = 0;
    std::memcpy(&at, answer.bytes + 4, sizeof at);
    if (at == 0 || at > sizeof answer.bytes - sizeof(UserId)) return false;
    const UserId owner(answer.bytes + at);
    return owner.size() != 0 &&
           (owner == user_of_process(Identity::kUser) || owner == user_of_process(Identity::kOwner));
}

inline constexpr unsigned long kAskForOwner = 1;

// Whether a file or directory belongs to the user of this process.
SP_DETAIL_COLD bool is_file_of_user(const wchar_t* path) {
    using Ask = int(__stdcall*)(const wchar_t*, unsigned long, void*, unsigned long, unsigned long*);
    const auto ask = system_function<Ask>(L"kernelbase.dll", "GetFileSecurityW");
    OwnerAnswer answer;
    return ask != nullptr && ask(path, kAskForOwner, answer.bytes, sizeof answer.bytes, &answer.len) != 0 &&
           is_owner_this_user(answer);
}
// The same of an open file.
SP_DETAIL_COLD bool is_open_file_of_user(void* file) {
    using Ask = int(__stdcall*)(void*, unsigned long, void*, unsigned long, unsigned long*);
    const auto ask = system_function<Ask>(L"kernelbase.dll", "GetKernelObjectSecurity");
    OwnerAnswer answer;
    return ask != nullptr && ask(file, kAskForOwner, answer.bytes, sizeof answer.bytes, &answer.len) != 0 &&
           is_owner_this_user(answer);
}

// Makes a directory to which, and to what will be in it, this user alone has access.
SP_DETAIL_COLD bool make_own_directory(const wchar_t* path) {
    const UserId user = user_of_process(Identity::kUser);
    if (user.size() == 0) return false;
    // A descriptor that contains what it refers to: an access list, protected against what the parent would
    // add, with one entry. The owner is the identifier in that entry. What a process with administrator's
    // rights makes would else belong to a group, and the user's other processes would refuse it.
    struct Descriptor {
        std::uint8_t revision = 1, zero = 0;
        std::uint16_t control = 0x8000 | 0x1000 | 0x0004;
        std::uint32_t owner_at = 36, group_at = 0, system_list_at = 0, list_at = 20;
        std::uint8_t list_revision = 2, list_zero = 0;
        std::uint16_t list_size = 0, count = 1, list_end = 0;
        std::uint8_t type = 0, inherited_by_all = 3;
        std::uint16_t entry_size = 0;
        std::uint32_t full_access = 0x001F'01FF;
        char user[sizeof(UserId)] = {};
    } descriptor;
    static_assert(offsetof(Descriptor, user) == 36);
    descriptor.entry_size = static_cast<std::uint16_t>(8 + user.size());
    descriptor.list_size = static_cast<std::uint16_t>(8 + descriptor.entry_size);
    std::memcpy(descriptor.user, user.bytes(), user.size());
    struct {
        unsigned long size;
        void* descriptor;
        int is_inherited;
    } attributes = {sizeof attributes, &descriptor, 0};
    static_assert(sizeof attributes == 24);
    return CreateDirectoryW(path, reinterpret_cast<struct _SECURITY_ATTRIBUTES*>(&attributes)) != 0;
}

SP_DETAIL_END
