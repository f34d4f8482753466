// Indexes the identifiers of a directory tree with several threads, and traces what it does: the C++ half of
// `make demo`.
//
//   index_tree ROOT [THREADS]
//
// It prints "half-way PID" on standard output when half of the files are done (the demonstration kills it
// then), and a summary at its end.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <vector>

SP_CATEGORY("demo::index")

namespace demo {

// What one file holds. SP_STRUCT makes it a value that a tracepoint keeps typed.
struct FileFacts {
    std::uint64_t bytes = 0;
    std::uint32_t lines = 0;
    std::uint32_t words = 0;
    std::optional<std::string> first_include;
};

}  // namespace demo
SP_STRUCT(demo::FileFacts, bytes, lines, words, first_include)

namespace demo {
namespace {

constexpr std::size_t kShards = 16;
constexpr std::size_t kLargeFile = 256 << 10;

// Counts of identifiers, in shards so that the threads seldom wait for each other.
class Index {
  public:
    void add(std::string_view word) {
        Shard& shard = shards_[std::hash<std::string_view>{}(word) % kShards];
        const std::lock_guard lock(shard.mutex);
        ++shard.counts[std::string(word)];
    }
    std::size_t size() const {
        std::size_t total = 0;
        for (const Shard& shard : shards_) total += shard.counts.size();
        return total;
    }

  private:
    struct Shard {
        std::mutex mutex;
        std::unordered_map<std::string, std::uint32_t> counts;
    };
    Shard shards_[kShards];
};

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string read_all(std::istream& in) {
    SP_SPAN("read");
    return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

FileFacts index_text(std::string_view text, Index& index) {
    SP_SPAN("index.words", text.size());
    FileFacts facts;
    facts.bytes = text.size();
    std::size_t at = 0;
    while (at < text.size()) {
        if (text[at] == '\n') {
            ++facts.lines;
            ++at;
        } else if (is_word(text[at])) {
            const std::size_t begin = at;
            while (at < text.size() && (is_word(text[at]) || (text[at] >= '0' && text[at] <= '9'))) ++at;
            const std::string_view word = text.substr(begin, at - begin);
            ++facts.words;
            if (word.size() >= 4) index.add(word);
            if (word == "include" && !facts.first_include) {
                const std::size_t open = text.find_first_of("<\"\n", at);
                if (open != std::string_view::npos && text[open] != '\n') {
                    const std::size_t close = text.find_first_of(">\"\n", open + 1);
                    if (close != std::string_view::npos)
                        facts.first_include = text.substr(open + 1, close - open - 1);
                }
            }
        } else {
            ++at;
        }
    }
    return facts;
}

// The work that the threads share: the list of files and how far they have come.
struct Work {
    std::vector<std::string> files;
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> done{0};
    Index index;
};

void run_worker(Work& work, unsigned number) {
    // The trace shows the thread by this name.
    pthread_setname_np(pthread_self(), ("index-" + std::to_string(number)).substr(0, 15).c_str());
    for (;;) {
        const std::size_t mine = work.next.fetch_add(1);
        if (mine >= work.files.size()) return;
        const std::string& path = work.files[mine];
        SP_SPAN("index.file", path);
        std::ifstream in(path, std::ios::binary);
        if (!in) {
            SP_WARN("cannot open {}", path);
            continue;
        }
        const std::string text = read_all(in);
        const FileFacts facts = index_text(text, work.index);
        if (facts.bytes == 0) SP_WARN("{} is empty", path);
        if (facts.bytes > kLargeFile) SP_WARN("{} has {} bytes", path, facts.bytes);
        SP_DEBUG << "indexed" << path << facts;

        const std::size_t done = work.done.fetch_add(1) + 1;
        if (done % 500 == 0)
            SP_INFO("{} of {} files, {:.1f} %", done, work.files.size(),
                    100.0 * static_cast<double>(done) / static_cast<double>(work.files.size()));
        if (done % 100 == 0) SP_COUNTER("files.left", work.files.size() - done);
        if (done == work.files.size() / 2) {
            std::printf("half-way %d\n", static_cast<int>(getpid()));
            std::fflush(stdout);
        }
    }
}

int run(const char* root, unsigned threads) {
    Work work;
    std::error_code error;
    using Walk = std::filesystem::recursive_directory_iterator;
    const auto skip = std::filesystem::directory_options::skip_permission_denied;
    for (Walk it(root, skip, error), end; !error && it != end; it.increment(error)) {
        std::error_code ignored;
        if (it->is_regular_file(ignored) && !it->is_symlink(ignored))
            work.files.push_back(it->path().string());
    }
    if (error) {
        SP_ERROR("cannot walk {}: {}", root, error.message());
        std::fprintf(stderr, "index_tree: cannot walk %s: %s\n", root, error.message().c_str());
        return 1;
    }
    SP_EVENT("walk.done", root, work.files.size(), threads);
    std::vector<std::thread> pool;
    for (unsigned i = 0; i < threads; ++i) pool.emplace_back([&work, i] { run_worker(work, i); });
    for (std::thread& thread : pool) thread.join();
    SP_EVENT("index.done", work.done.load(), work.index.size());
    std::printf("index_tree: %zu files, %zu different words\n", work.done.load(), work.index.size());
    return 0;
}

}  // namespace
}  // namespace demo

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: index_tree ROOT [THREADS]\n");
        return 2;
    }
    const unsigned threads = argc > 2 ? static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)) : 4;
    return demo::run(argv[1], threads == 0 ? 1 : threads);
}
