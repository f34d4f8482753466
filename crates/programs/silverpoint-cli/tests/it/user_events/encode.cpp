// Makes events of what it reads (cases.hpp), with a backend that keeps the bytes. An event is printed behind
// its tracepoint's declaration.
#include <user_events/tracepoints.hpp>

#include "cases.hpp"

using namespace silverpoint::user_events;

static std::vector<std::string> declarations;
static std::string last;

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
                              last = declarations.at(index) + '\n';
                              for (int i = 1; i < count; ++i)
                                  last.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
                              return true;
                          },
                          "memory",
                          65535};

int main() {
    backend = &kept;
    Tracepoints tracepoints;
    const auto make = [&](const Description& site) {
        const SiteEvent* const made = tracepoints.make(site);
        return made == nullptr ? nullptr : &made->shared;
    };
    cases::show_all(make, last);
}
