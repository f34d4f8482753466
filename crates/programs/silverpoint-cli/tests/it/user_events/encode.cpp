// Makes events of what it reads (cases.hpp), with a backend that keeps the bytes. An event is printed behind
// its tracepoint's declaration. With an argument: across.hpp.
#include <user_events/tracepoints.hpp>

#include "across.hpp"
#include "cases.hpp"

using namespace silverpoint::user_events;

static std::vector<std::string> declarations;
static std::string last;
static bool is_across = false;

// The activities, behind the header.
static bool see(const iovec* parts) {
    across::Seen& seen = across::seen = {};
    seen.is_there = true;
    Extension extension;
    std::memcpy(&extension, parts[2].iov_base, sizeof extension);
    if ((extension.kind & ~unsigned{Extension::kIsFollowed}) != Extension::kActivity) return true;
    const auto* const ids = static_cast<const char*>(parts[2].iov_base) + sizeof extension;
    seen.has_id = true;
    seen.has_parent = extension.size == 2 * sizeof seen.id;
    std::memcpy(&seen.id, ids, sizeof seen.id);
    if (seen.has_parent) std::memcpy(&seen.parent, ids + sizeof seen.id, sizeof seen.parent);
    return true;
}

static const Backend kept{[] { return 0; },
                          [] {},
                          [] { return false; },
                          [](const char* declaration, int* enabled, std::uint32_t* index) {
                              *index = static_cast<std::uint32_t>(declarations.size());
                              declarations.emplace_back(declaration);
                              *enabled = 1;
                              return 0;
                          },
                          [](std::uint32_t index, iovec* parts, int count) {
                              if (is_across) return see(parts);
                              last = declarations.at(index) + '\n';
                              for (int i = 1; i < count; ++i)
                                  last.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
                              return true;
                          },
                          "memory",
                          65535};

int main(int count, char**) {
    backend = &kept;
    Tracepoints tracepoints;
    const auto make = [&](const Description& site) {
        const SiteEvent* const made = tracepoints.make(site);
        return made == nullptr ? nullptr : &made->shared;
    };
    is_across = count > 1;
    if (is_across) return across::run(make);
    cases::show_all(make, last);
}
