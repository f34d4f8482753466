// Makes events for ETW of what it reads (cases.hpp), with a backend that keeps the bytes.
//
// An event is its descriptor, activity and parent, then type, size and bytes of each part. An activity is
// whether it is there, then its bytes. With arguments the program prints the ids of providers of these names;
// for `across`: across.hpp.
#include <etw/providers.hpp>

#include "across.hpp"
#include "cases.hpp"

using namespace silverpoint::etw;

static std::string last;
static bool is_across = false;

static void add(const void* bytes, std::size_t size) { last.append(static_cast<const char*>(bytes), size); }
static void add(const ActivityId* id) {
    const ActivityId none;
    last += id == nullptr ? '\0' : '\1';
    add(id == nullptr ? &none : id, sizeof none);
}

static const Backend kept{[](Provider& provider) {
                              provider.heed(Provider::kEnable, 5, ~std::uint64_t{0}, 0);
                              return 0ul;
                          },
                          [](Provider&) {},
                          [](const Provider&, const EventDescriptor& of, const ActivityId* activity,
                             const ActivityId* parent, DataDescriptor* parts, unsigned count) {
                              if (is_across) {
                                  across::seen = {true, activity != nullptr, parent != nullptr,
                                                  activity != nullptr ? *activity : ActivityId(),
                                                  parent != nullptr ? *parent : ActivityId()};
                                  return;
                              }
                              last.clear();
                              add(&of, sizeof of);
                              add(activity);
                              add(parent);
                              for (unsigned i = 0; i < count; ++i) {
                                  const std::uint32_t head[] = {parts[i].type, parts[i].size};
                                  add(head, sizeof head);
                                  add(reinterpret_cast<const void*>(parts[i].at), parts[i].size);
                              }
                          }};

int main(int count, char** arguments) {
    static_assert(provider_id("Silverpoint")[7] >> 4 == 5, "a constant");
    is_across = count > 1 && std::strcmp(arguments[1], "across") == 0;
    for (int i = 1; i < count && !is_across; ++i) {
        for (const unsigned char byte : provider_id(arguments[i])) std::printf("%02x", byte);
        std::printf("\n");
    }
    if (count > 1 && !is_across) return 0;
    backend = &kept;
    static Providers providers;
    const auto make = [](const Description& site) {
        const SiteEvent* const made = providers.make(site);
        return made == nullptr ? nullptr : &made->shared;
    };
    if (is_across) return across::run(make);
    cases::show_all(make, last);
}
