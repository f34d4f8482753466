// A small reader of sessions, written from spec/wire.md alone: it shares nothing with the headers under test.
//
//   Session::mine()      the session of this process (SILVERPOINT_DIR must be set)
//   session.records()    what is readable now, by stream and position; checks each structure on its way
//   session.drain()      the same, and marks it consumed
//   text_of(record)      the arguments as text by the site's signature, e.g. `5 2.5 "abc" [1, 2]`
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace reader {

// Throws, in programs without exceptions too: there the runner of the tests catches it.
[[noreturn]] void fail(const std::string& why);

struct Site {
    std::uint32_t id = 0, stage = 0;
    int kind = 0, level = 0, flags = 0, language = 0;
    std::uint32_t line = 0;
    std::string category, file, function, names, text, signature;
};

struct Record {
    std::uint32_t stream = 0, tid = 0, lane = 0, site = 0, size = 0, flags = 0;
    std::uint64_t position = 0, ticks = 0;
    std::string args;
};

struct Ring {
    char* base = nullptr;
    std::uint32_t bytes = 0;
    template <class T>
    T load(std::size_t at) const {
        return reinterpret_cast<const std::atomic<T>*>(base + at)->load(std::memory_order_acquire);
    }
    template <class T>
    void store(std::size_t at, T value) const {
        reinterpret_cast<std::atomic<T>*>(base + at)->store(value, std::memory_order_release);
    }
    std::uint32_t state() const { return load<std::uint32_t>(4) & 0xFF; }
    std::uint32_t tid() const { return load<std::uint32_t>(8); }
    std::uint32_t stream() const { return load<std::uint32_t>(12); }
    std::uint32_t capacity() const { return load<std::uint32_t>(16); }
    std::uint32_t lane() const { return load<std::uint16_t>(24); }
    std::uint32_t previous() const { return load<std::uint32_t>(28); }
    std::uint64_t begin() const {
        const std::uint64_t base_position = load<std::uint64_t>(56), oldest = load<std::uint64_t>(72);
        const std::uint64_t consumed = load<std::uint64_t>(128);
        return std::max(base_position, std::max(oldest, consumed));
    }
    std::uint64_t committed() const { return load<std::uint64_t>(64); }
    std::uint64_t losses(unsigned cause) const { return load<std::uint64_t>(192 + 8 * cause); }
    std::uint64_t losses() const {
        std::uint64_t sum = 0;
        for (unsigned cause = 0; cause < 8; ++cause) sum += losses(cause);
        return sum;
    }
};

class Session {
  public:
    explicit Session(const std::string& path);
    // Over mappings that are there already: for tools that tell accesses by their addresses.
    Session(const std::string& path, char* control, std::size_t control_size, char* rings,
            std::size_t rings_size)
        : path_(path),
          control_(control),
          rings_(rings),
          control_size_(control_size),
          rings_size_(rings_size),
          owns_(false) {}
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Directories of sessions of a process, under the root of the environment.
    static std::vector<std::string> paths_of(int pid);
    static std::string path_of(int pid);
    static Session mine() { return Session(path_of(getpid())); }

    // Whether owners may overwrite what is being read.
    void expect_races(bool expects) { expects_races_ = expects; }

    const std::string& path() const { return path_; }
    template <class T>
    T get(std::size_t at) const {
        return reinterpret_cast<const std::atomic<T>*>(control_ + at)->load(std::memory_order_acquire);
    }
    template <class T>
    void set(std::size_t at, T value) {
        reinterpret_cast<std::atomic<T>*>(control_ + at)->store(value, std::memory_order_seq_cst);
    }

    // Is the owner lock held?
    bool is_alive() const;

    std::vector<Site> sites() const;
    Site site(std::uint32_t id) const;
    std::uint8_t& state(std::uint32_t id) {
        return *reinterpret_cast<std::uint8_t*>(control_ + get<std::uint64_t>(152) + (id - 16));
    }

    std::vector<Ring> rings() const;

    // Everything readable of one ring. Of one that is being overwritten, what stayed valid while it was
    // copied.
    std::vector<Record> records(const Ring& ring, std::uint64_t* end = nullptr) const;
    std::vector<Record> records() const;
    std::vector<Record> drain();
    // Of all rings since the first drain, as the last drain found them; also of streams that have ended
    // since.
    std::uint64_t ring_losses_ever(unsigned cause) const;
    std::uint64_t session_losses(unsigned cause) const { return get<std::uint64_t>(560 + 8 * cause); }
    std::uint64_t losses() const;

  private:
    struct Told {
        std::uint32_t stream = 0;
        std::uint64_t losses[8] = {};
    };

    std::string path_;
    char* control_ = nullptr;
    char* rings_ = nullptr;
    std::size_t control_size_ = 0, rings_size_ = 0;
    bool owns_ = true;
    bool expects_races_ = false;
    std::map<const char*, Told> told_;
    std::uint64_t ended_[8] = {};
};

}  // namespace reader
