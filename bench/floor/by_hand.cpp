// What the map of the suite costs when it is packed by hand, for one map type and one place: the least that a
// tracepoint with it can be asked for, beside the floor. There is no site, no level, no limit, no reader, no
// thread to find; a record goes into a private, warm ring of 1 MiB, is published, and is never looked at.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "../harness/harness.h"

namespace {

constexpr std::size_t kCapacity = 1 << 20, kMost = 256;
alignas(128) char ring[kCapacity + kMost];
std::uint64_t position = 0, committed = 0;
const std::map<std::string, std::int32_t> counts{{"alpha", 1}, {"beta", 20}, {"gamma", 300}};

template <class T>
[[gnu::always_inline]] inline char* put(char* out, T value) {
    std::memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

[[gnu::always_inline]] inline void record(std::uint64_t id, std::int32_t index, double fraction) {
    char* const at = ring + (position & (kCapacity - 1));
    char* out = put(put(put(at + 16, id), index), fraction);
    out = put(out, static_cast<std::uint32_t>(counts.size()));
    std::size_t left = counts.size();
    for (auto of = counts.begin();; ++of) {
        const std::string& key = of->first;
        out = put(out, static_cast<std::uint32_t>(key.size()));
        // Keys of 4 to 8 bytes, as these are; two pieces that overlap.
        if (key.size() - 4 > 4) std::abort();
        std::uint32_t first, last;
        std::memcpy(&first, key.data(), 4);
        std::memcpy(&last, key.data() + key.size() - 4, 4);
        put(out, first);
        put(out + key.size() - 4, last);
        out = put(out + key.size(), of->second);
        if (--left == 0) break;
    }
    put(out, std::uint64_t{0});
    const auto size = static_cast<std::uint64_t>(out - at + 7) & ~std::uint64_t{7};
    put(put(at, size | std::uint64_t{16} << 32), std::uint64_t{bench_ticks()});
    position += size;
    __atomic_store_n(&committed, position, __ATOMIC_RELEASE);
}

[[gnu::noinline]] void burst(std::uint64_t n, std::uint64_t first_id) {
    double fraction = 0.125;
    std::int32_t index = 0;
    for (std::uint64_t id = first_id; id != first_id + n; ++id, ++index, fraction += 1.0)
        record(id, index, fraction);
}

[[gnu::noinline]] void singles(std::uint64_t n, std::uint64_t first_id, std::uint32_t* elapsed_ticks) {
    double fraction = 0.125;
    std::int32_t index = 0;
    for (std::uint64_t id = first_id; id != first_id + n; ++id, ++index, fraction += 1.0) {
        const std::uint64_t before = bench_ticks();
        record(id, index, fraction);
        *elapsed_ticks++ = static_cast<std::uint32_t>(bench_ticks() - before);
    }
}

void empty(std::uint64_t n, std::uint64_t first_id) {
    for (std::uint64_t id = first_id; id != first_id + n; ++id) asm volatile("" : : "r"(id) : "memory");
}

// All records have the same size.
void flush() {
    if (committed == position && position % 80 == 0 && position > 0) return;
    std::fprintf(stderr, "by-hand: %llu bytes were packed\n", static_cast<unsigned long long>(position));
    std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
    std::memset(ring, 1, sizeof ring);
    static const bench_case cases[] = {{"map", burst, singles}};
    bench_facility facility{};
    facility.name = "by-hand";
    facility.cases = cases;
    facility.case_count = 1;
    facility.empty = facility.disabled = empty;
    facility.flush = flush;
    return bench_main(argc, argv, &facility);
}
