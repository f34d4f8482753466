#include "reader.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reader {

namespace {

std::uint64_t fnv1a(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
    return hash;
}

void copy_data(const Ring& ring, std::uint64_t begin, std::uint64_t end, char* out) {
    const std::uint32_t capacity = ring.capacity();
    for (std::uint64_t at = begin; at < end; at += 8)
        std::memcpy(out + (at - begin), ring.base + 256 + at % capacity, 8);
}
// What an owner overwrites meanwhile comes out torn, and is found out by `oldest` afterwards: a race that
// is intended, and not to be reported.
__attribute__((noinline, no_sanitize("thread"))) void copy_racing(const Ring& ring, std::uint64_t begin,
                                                                  std::uint64_t end, char* out) {
    const std::uint32_t capacity = ring.capacity();
    for (std::uint64_t at = begin; at < end; at += 8) {
        const std::uint64_t word =
            *reinterpret_cast<const volatile std::uint64_t*>(ring.base + 256 + at % capacity);
        __builtin_memcpy(out + (at - begin), &word, 8);
    }
}

char* map(const std::string& file, std::size_t& size) {
    const int fd = open(file.c_str(), O_RDWR | O_CLOEXEC);
    struct stat found = {};
    if (fd < 0 || fstat(fd, &found) != 0) fail("cannot open " + file);
    size = static_cast<std::size_t>(found.st_size);
    void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED) fail("cannot map " + file);
    return static_cast<char*>(mapped);
}

}  // namespace

void fail(const std::string& why) { throw std::runtime_error("reader: " + why); }

Session::Session(const std::string& path) : path_(path) {
    control_ = map(path + "/control", control_size_);
    rings_ = map(path + "/rings", rings_size_);
    if (std::memcmp(control_, "SPCTL\r\n\x1a", 8) != 0) fail("no magic");
    if (get<std::uint16_t>(8) != 1 || get<std::uint32_t>(12) != 4096) fail("version");
    if (get<std::uint64_t>(96) != control_size_) fail("control size");
    if (get<std::uint64_t>(104) > rings_size_) fail("rings size");
}

Session::~Session() {
    if (!owns_) return;
    if (control_ != nullptr) munmap(control_, control_size_);
    if (rings_ != nullptr) munmap(rings_, rings_size_);
}

std::vector<std::string> Session::paths_of(int pid) {
    const char* root = std::getenv("SILVERPOINT_DIR");
    std::vector<std::string> found;
    if (root == nullptr) fail("SILVERPOINT_DIR is not set");
    DIR* directory = opendir(root);
    if (directory == nullptr) return found;
    const std::string prefix = std::to_string(pid) + "-";
    while (const dirent* entry = readdir(directory))
        if (std::string_view(entry->d_name).substr(0, prefix.size()) == prefix)
            found.push_back(std::string(root) + "/" + entry->d_name);
    closedir(directory);
    return found;
}

std::string Session::path_of(int pid) {
    const auto paths = paths_of(pid);
    if (paths.size() != 1) fail(std::to_string(paths.size()) + " sessions of process " + std::to_string(pid));
    return paths[0];
}

bool Session::is_alive() const {
    const int fd = open((path_ + "/owner").c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) fail("owner");
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_len = 1;
    const int result = fcntl(fd, F_OFD_GETLK, &lock);
    close(fd);
    return result == 0 && lock.l_type != F_UNLCK;
}

std::vector<Site> Session::sites() const {
    std::vector<Site> all;
    const std::uint32_t count = std::min(get<std::uint32_t>(512), get<std::uint32_t>(140));
    for (std::uint32_t i = 0; i < count; ++i) all.push_back(site(i + 16));
    return all;
}

Site Session::site(std::uint32_t id) const {
    const std::size_t entry = get<std::uint64_t>(144) + std::size_t{id - 16} * 32;
    Site found;
    found.id = id;
    found.stage = get<std::uint32_t>(entry);
    if (found.stage < 2) return found;
    const std::size_t at =
        get<std::uint64_t>(184) + 8 * std::size_t{get<std::uint32_t>(entry + (found.stage == 3 ? 8 : 4))};
    const std::uint32_t size = get<std::uint32_t>(at);
    if (size % 8 != 0 || size < 48 || size > 65536 || at + size > control_size_)
        fail("size of a description");
    if (fnv1a({control_ + at + 16, size - 16}) != get<std::uint64_t>(at + 8)) fail("hash of a description");
    found.kind = get<std::uint8_t>(at + 16);
    found.level = get<std::uint8_t>(at + 17);
    found.flags = get<std::uint16_t>(at + 18);
    found.line = get<std::uint32_t>(at + 20);
    found.language = get<std::uint16_t>(at + 24);
    std::size_t text = at + 48;
    const auto take = [&](std::size_t len) {
        if (text + len > at + size) fail("texts of a description");
        std::string piece(control_ + text, len);
        text += len;
        return piece;
    };
    found.category = take(get<std::uint16_t>(at + 28));
    found.file = take(get<std::uint16_t>(at + 30));
    found.function = take(get<std::uint16_t>(at + 32));
    found.names = take(get<std::uint16_t>(at + 34));
    found.text = take(get<std::uint32_t>(at + 36));
    found.signature = take(get<std::uint32_t>(at + 40));
    return found;
}

std::vector<Ring> Session::rings() const {
    std::vector<Ring> all;
    const std::uint32_t slab_bytes = get<std::uint32_t>(112);
    const std::uint32_t slabs = std::min(get<std::uint32_t>(520), get<std::uint32_t>(116));
    for (std::uint32_t slab = 0; slab < slabs; ++slab) {
        const std::size_t entry = get<std::uint64_t>(120) + slab * 16u;
        const std::uint32_t shift = get<std::uint32_t>(entry);
        if (shift == 0) continue;
        const std::uint32_t backed = get<std::uint32_t>(entry + 8);
        const std::uint32_t count =
            std::min({get<std::uint32_t>(entry + 4), slab_bytes >> shift, backed >> shift});
        for (std::uint32_t i = 0; i < count; ++i) {
            const Ring ring{rings_ + std::size_t{slab} * slab_bytes + (std::size_t{i} << shift), 1u << shift};
            if (ring.load<std::uint32_t>(0) == 0x47525053) all.push_back(ring);
        }
    }
    return all;
}

std::vector<Record> Session::records(const Ring& ring, std::uint64_t* end) const {
    std::vector<Record> all;
    const std::uint32_t state = ring.state();
    if (state != 2 && state != 3) return all;
    const std::uint32_t capacity = ring.capacity();
    if (capacity != ring.bytes - 256 || ring.load<std::uint32_t>(20) != 256) fail("shape of a ring");
    std::uint64_t begin, committed;
    // Together: a producer that overwrites may go around its ring between one and the other.
    do {
        begin = ring.begin();
        committed = ring.committed();
    } while (begin != ring.begin());
    if (end != nullptr) *end = committed;
    if (begin > committed || committed - begin > capacity) fail("positions of a ring");
    std::string copy(committed - begin, '\0');
    (expects_races_ ? copy_racing : copy_data)(ring, begin, committed, copy.data());
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const std::uint64_t oldest = ring.load<std::uint64_t>(72);
    std::uint64_t at = std::max(begin, oldest);
    while (at < committed) {
        const char* from = copy.data() + (at - begin);
        std::uint32_t head, site;
        std::memcpy(&head, from, 4);
        std::memcpy(&site, from + 4, 4);
        const std::uint32_t size = head & 0xFFFFFF;
        if (size % 8 != 0 || size < (site == 0 ? 8 : 16) || at + size > committed)
            fail("size of a record at " + std::to_string(at));
        if (at / capacity != (at + size - 1) / capacity) fail("a record that wraps");
        if (site != 0) {
            if (size > std::min(capacity / 4, 256u << 10)) fail("a record beyond the limit");
            Record record{ring.stream(),
                          ring.tid(),
                          ring.lane(),
                          site,
                          size,
                          head >> 24,
                          at,
                          0,
                          std::string(from + 16, size - 16)};
            std::memcpy(&record.ticks, from + 8, 8);
            all.push_back(std::move(record));
        }
        at += size;
    }
    return all;
}

std::vector<Record> Session::records() const {
    std::vector<Record> all;
    for (const Ring& ring : rings())
        for (Record& record : records(ring)) all.push_back(std::move(record));
    return all;
}

std::vector<Record> Session::drain() {
    std::vector<Record> all;
    // By stream: those of a thread are numbered as it took them, wherever in the session they lie. (Each is
    // read once: another thread may take a ring meanwhile.)
    std::multimap<std::uint32_t, Ring> in_turn;
    for (const Ring& ring : rings()) in_turn.emplace(ring.stream(), ring);
    for (const auto& [stream, ring] : in_turn) {
        std::uint64_t end = 0;
        const auto found = records(ring, &end);
        if (end == 0) continue;
        ring.store<std::uint64_t>(128, end);
        Told& told = told_[ring.base];
        if (told.stream != ring.stream()) {
            // The stream before has ended with its losses reported: its counters began again.
            for (unsigned cause = 0; cause < 8; ++cause) ended_[cause] += told.losses[cause];
            told = {ring.stream(), {}};
        }
        std::uint64_t sum = 0;
        for (unsigned cause = 0; cause < 8; ++cause) sum += told.losses[cause] = ring.losses(cause);
        ring.store<std::uint64_t>(144, sum);
        all.insert(all.end(), found.begin(), found.end());
    }
    return all;
}

std::uint64_t Session::ring_losses_ever(unsigned cause) const {
    std::uint64_t sum = ended_[cause];
    for (const auto& [base, told] : told_) sum += told.losses[cause];
    return sum;
}

std::uint64_t Session::losses() const {
    std::uint64_t sum = 0;
    for (unsigned cause = 0; cause < 8; ++cause) sum += session_losses(cause);
    for (const Ring& ring : rings())
        if (ring.state() == 2 || ring.state() == 3) sum += ring.losses();
    return sum;
}

}  // namespace reader
