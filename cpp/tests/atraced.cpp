// atraced SEED CALLS: so many calls of ATrace, of all kinds and with all sorts of names. The seed decides on
// their order; threads take turns. (As crates/programs/silverpoint-cli/examples/atraced.rs, whose tests
// compile it.)
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <silverpoint/atrace.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace atrace = silverpoint::atrace;

// Numbers that look random and are the same each time (xorshift).
class Numbers {
  public:
    explicit Numbers(std::uint64_t seed) : last_(seed * 2 + 1) {}
    std::uint64_t below(std::uint64_t bound) {
        last_ ^= last_ << 13;
        last_ ^= last_ >> 7;
        last_ ^= last_ << 17;
        return last_ % bound;
    }
    std::string name() {
        static const char* const kPieces[] = {"load", "{}", "|",  "\n", "\xC3\xA4", "\xF0\x9F\x98\x80",
                                              " ",    "\t", "%s", "\"", "\x7F",     "E|1"};
        std::string made;
        const std::uint64_t kind = below(20);
        // Longer than a message.
        const std::uint64_t pieces = kind == 0 ? 400 : kind == 1 ? 0 : 1 + below(6);
        for (std::uint64_t i = 0; i < pieces; ++i) made += kPieces[below(12)];
        return made + std::to_string(below(50));
    }

  private:
    std::uint64_t last_;
};

using Open = std::vector<std::pair<std::string, std::int32_t>>;

std::optional<std::pair<std::string, std::int32_t>> take(Open& open, bool is_wanted) {
    if (open.empty()) return std::nullopt;
    auto last = std::move(open.back());
    open.pop_back();
    return is_wanted ? std::optional(std::move(last)) : std::nullopt;
}

void call(Numbers& numbers, std::uint64_t calls) {
    unsigned depth = 0;
    Open on_tracks, stretches;
    for (std::uint64_t i = 0; i < calls; ++i) {
        const std::string name = numbers.name(), other = numbers.name();
        const std::uint64_t number = numbers.below(UINT64_MAX);
        const auto cookie = static_cast<std::int32_t>(number);
        const atrace::Tag tag = numbers.below(4) == 0 ? atrace::kGraphics : atrace::kApp;
        switch (numbers.below(9)) {
            case 0:
            case 1:
                // (Of deeper ones the ring has no end.)
                if (depth == 60) break;
                atrace::begin(atrace::kApp, name);
                ++depth;
                break;
            case 2:
                if (depth == 0) break;
                atrace::end(atrace::kApp);
                --depth;
                break;
            case 3:
                atrace::instant(tag, name);
                break;
            case 4:
                atrace::track_instant(tag, other, name);
                break;
            case 5:
                atrace::int32(tag, name, cookie);
                break;
            case 6:
                atrace::int64(tag, name, static_cast<std::int64_t>(number));
                break;
            case 7:
                if (const auto last = take(stretches, number % 2 == 0)) {
                    atrace::async_end(atrace::kApp, last->first, last->second);
                } else {
                    atrace::async_begin(atrace::kApp, name, cookie);
                    stretches.emplace_back(name, cookie);
                }
                break;
            default:
                if (const auto last = take(on_tracks, number % 2 == 0)) {
                    atrace::track_end(atrace::kApp, last->first, last->second);
                } else {
                    // (What ends on a track is known by track and cookie: those of another would be taken
                    // for it.)
                    const std::string track = "track " + other;
                    atrace::track_begin(atrace::kApp, track, name, cookie);
                    on_tracks.emplace_back(track, cookie);
                }
        }
        if (number % 16 == 0) SP_ATRACE_TAG(tag, name);
        if (number % 16 == 1) SP_ATRACE_FORMAT("%s: %d", name.c_str(), cookie);
        if (number % 16 == 2) const atrace::AsyncScope later(atrace::kApp, name);
    }
    while (depth-- > 0) atrace::end(atrace::kApp);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    Numbers numbers(std::strtoull(argv[1], nullptr, 10));
    for (std::uint64_t left = std::strtoull(argv[2], nullptr, 10); left > 0;) {
        // Each in a thread of its own, one after the other.
        std::uint64_t turn = 1 + numbers.below(300);
        if (turn > left) turn = left;
        left -= turn;
        std::thread([&] { call(numbers, turn); }).join();
    }
}
