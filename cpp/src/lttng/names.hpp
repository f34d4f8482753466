// What an event is called: the category and the template or name, unique in the process.
#pragma once

#include "../probes/description.hpp"
#include "fields.hpp"

namespace silverpoint::lttng {

using namespace probes;

// LTTng's limit, with the colon and the end.
inline constexpr std::size_t kNameMost = 255;
using EventName = Text<600>;

// Appends a text: what a literal of CTF's metadata cannot have is replaced, and a character is not cut.
inline void add_literal(EventName& out, std::string_view text, std::size_t most) {
    if (text.size() > most) {
        while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
        text = part(text, 0, most);
    }
    for (const char c : text) {
        const char safe = c == '"' ? '\'' : c == '\\' ? '/' : (c >= 0 && c < ' ') || c == 0x7F ? ' ' : c;
        out.add(&safe, 1);
    }
}

// Of LTTng's levels, of which the smallest is the most severe.
inline int level_of_site(std::uint8_t level) {
    constexpr int levels[] = {14, 13, 6, 4, 3, 2};  // debug, debug_line, info, warning, error, critical
    return level < sizeof levels / sizeof levels[0] ? levels[level] : 14;
}

// The names that are in use, as hashes: two events of one name would each be recorded twice.
class TakenNames {
  public:
    // False: it was taken before. A table that is full says so of every name.
    bool take(std::string_view name) {
        if (hashes_ == nullptr) {
            void* const made = mmap(nullptr, sizeof(std::uint64_t) * kSize, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (made == MAP_FAILED) return false;
            hashes_ = static_cast<std::uint64_t*>(made);
        }
        const std::uint64_t hash = fnv1a(name.data(), name.size()) | 1;
        for (std::size_t i = 0; i < kSize; ++i) {
            std::uint64_t& place = hashes_[(hash + i) % kSize];
            if (place == hash) return false;
            if (place != 0) continue;
            place = hash;
            return true;
        }
        return false;
    }

  private:
    static constexpr std::size_t kSize = std::size_t{1} << 19;
    std::uint64_t* hashes_ = nullptr;
};

inline TakenNames taken_names;

// Provider and name of an event, for ever. `ending` is behind the name.
struct FullName {
    const char* provider = "";
    const char* name = "";

    FullName(const Description& site, std::string_view ending) {
        EventName category;
        add_literal(category, site.category.empty() ? std::string_view("silverpoint") : site.category, 63);
        const std::size_t room = kNameMost - 1 - category.size();
        for (unsigned attempt = 0; attempt < 1000; ++attempt) {
            EventName tail, text;
            tail.add(ending.data(), ending.size());
            if (attempt > 0 || site.text.empty()) {
                std::string_view file = site.file;
                if (const auto slash = file.rfind('/'); slash != std::string_view::npos)
                    file = part(file, slash + 1);
                tail.add("#");
                add_literal(tail, file, 100);
                tail.add(":").number(site.line);
            }
            if (attempt > 1) tail.add("#").number(attempt);
            add_literal(text, site.text, room - tail.size());
            text.add(tail.c_str(), tail.size());
            EventName whole = category;
            whole.add(":").add(text.c_str(), text.size());
            if (!taken_names.take({whole.c_str(), whole.size()})) continue;
            provider = keep_text({category.c_str(), category.size()});
            name = keep_text({text.c_str(), text.size()});
            return;
        }
    }
    explicit operator bool() const { return *name != 0; }
};

}  // namespace silverpoint::lttng
