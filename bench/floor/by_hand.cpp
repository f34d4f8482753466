// What the records of the suite cost when they are packed by hand, for these types and one place. No
// tracepoint with these arguments can be cheaper. There is no site, level, limit or reader, and no thread to
// find. A record goes into a private, warm ring of 1 MiB, is published, and is never read. Lengths of texts
// and keys are known to within a few bytes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "../harness/harness.h"

namespace {

constexpr std::size_t kCapacity = 1 << 20, kMost = 1024;
alignas(128) char ring[kCapacity + kMost];
std::uint64_t position = 0, committed = 0;
const std::map<std::string, std::int32_t> counts{{"alpha", 1}, {"beta", 20}, {"gamma", 300}};
const std::string path = "/var/lib/silverpoint/data/frame.000";  // 35 bytes
std::vector<float> samples;

template <class T>
[[gnu::always_inline]] inline char* put(char* out, T value) {
    std::memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

// Head, time and publication of a record whose arguments end at `out`.
[[gnu::always_inline]] inline void finish(char* at, char* out) {
    const auto size = static_cast<std::uint64_t>(out - at + 7) & ~std::uint64_t{7};
    put(put(at, size | std::uint64_t{16} << 32), std::uint64_t{bench_ticks()});
    position += size;
    __atomic_store_n(&committed, position, __ATOMIC_RELEASE);
}

struct Literal {
    static constexpr std::size_t kSize = 16;
    static char* pack(char* out, std::uint64_t, std::int32_t, double) { return out; }
};

struct Three {
    static constexpr std::size_t kSize = 40;
    static char* pack(char* out, std::uint64_t id, std::int32_t index, double fraction) {
        put(out + 16, std::uint64_t{0});  // what the last word has beyond the arguments
        return put(put(put(out, index), fraction), id);
    }
};

struct Text {
    static constexpr std::size_t kSize = 72;
    [[gnu::always_inline]] static char* pack(char* out, std::uint64_t id, std::int32_t, double fraction) {
        out = put(put(out, id), fraction);
        const std::size_t size = path.size();
        // Of 33 to 48 bytes; three pieces, of which the last two overlap.
        if (size - 33 > 15) std::abort();
        put(out + size - 4, std::uint64_t{0});
        out = put(out, static_cast<std::uint32_t>(size));
        std::memcpy(out, path.data(), 16);
        std::memcpy(out + 16, path.data() + 16, 16);
        std::memcpy(out + size - 16, path.data() + size - 16, 16);
        return out + size;
    }
};

struct Map {
    static constexpr std::size_t kSize = 80;
    [[gnu::always_inline]] static char* pack(char* out, std::uint64_t id, std::int32_t index,
                                             double fraction) {
        out = put(put(put(out, id), index), fraction);
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
        return out;
    }
};

struct Floats {
    static constexpr std::size_t kSize = 536;
    [[gnu::always_inline]] static char* pack(char* out, std::uint64_t, std::int32_t, double) {
        out = put(out, static_cast<std::uint32_t>(samples.size()));
        std::memcpy(out, samples.data(), samples.size() * sizeof(float));
        return put(out + samples.size() * sizeof(float), std::uint32_t{0});
    }
};

std::size_t record_size = 0;

template <class Kind>
[[gnu::always_inline]] inline void record(std::uint64_t id, std::int32_t index, double fraction) {
    char* const at = ring + (position & (kCapacity - 1));
    finish(at, Kind::pack(at + 16, id, index, fraction));
}

template <class Kind>
[[gnu::noinline]] void burst(std::uint64_t n, std::uint64_t first_id) {
    record_size = Kind::kSize;
    double fraction = 0.125;
    std::int32_t index = 0;
    for (std::uint64_t id = first_id; id != first_id + n; ++id, ++index, fraction += 1.0)
        record<Kind>(id, index, fraction);
}

template <class Kind>
[[gnu::noinline]] void singles(std::uint64_t n, std::uint64_t first_id, std::uint32_t* elapsed_ticks) {
    record_size = Kind::kSize;
    double fraction = 0.125;
    std::int32_t index = 0;
    for (std::uint64_t id = first_id; id != first_id + n; ++id, ++index, fraction += 1.0) {
        const std::uint64_t before = bench_ticks();
        record<Kind>(id, index, fraction);
        *elapsed_ticks++ = static_cast<std::uint32_t>(bench_ticks() - before);
    }
}

void empty(std::uint64_t n, std::uint64_t first_id) {
    for (std::uint64_t id = first_id; id != first_id + n; ++id) asm volatile("" : : "r"(id) : "memory");
}

// All records have the same size.
void flush() {
    if (committed == position && record_size > 0 && position % record_size == 0 && position > 0) return;
    std::fprintf(stderr, "by-hand: %llu bytes were packed\n", static_cast<unsigned long long>(position));
    std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
    std::memset(ring, 1, sizeof ring);
    for (int i = 0; i < 128; ++i) samples.push_back(static_cast<float>(i) * 0.25f);
    static const bench_case cases[] = {{"literal", burst<Literal>, singles<Literal>},
                                       {"three", burst<Three>, singles<Three>},
                                       {"text", burst<Text>, singles<Text>},
                                       {"map", burst<Map>, singles<Map>},
                                       {"floats", burst<Floats>, singles<Floats>}};
    bench_facility facility{};
    facility.name = "by-hand";
    facility.cases = cases;
    facility.case_count = sizeof cases / sizeof *cases;
    facility.empty = facility.disabled = empty;
    facility.flush = flush;
    return bench_main(argc, argv, &facility);
}
