// Records from before main to after it, of plug-ins and of a thread that outlives main; and texts of every
// kind. The tests of the program `silverpoint` compile, run and read it.
//
//   whole_life PLUGIN COUNT   the life; COUNT is a file of 8 bytes in which the thread counts what it
//   recorded whole_life                the texts
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

void record_in_part();

namespace {

std::atomic<std::uint64_t>* counted = nullptr;

// Waits until the thread has recorded so much more.
void let_it_record() {
    if (counted == nullptr) return;
    for (const auto until = *counted + 100; *counted < until;) usleep(100);
}

struct Static {
    Static() { SP_INFO("static constructor"); }
    ~Static() {
        SP_INFO("static destructor");
        let_it_record();
    }
} object;

[[gnu::constructor(200)]] void early() { SP_INFO("early constructor"); }
[[gnu::destructor(200)]] void late() {
    let_it_record();
    SP_INFO("late destructor");
}

// Loads the plug-in and calls it; it stays.
void* load(const char* path, std::uint64_t number) {
    void* const plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) _exit(3);
    reinterpret_cast<void (*)(std::uint64_t)>(dlsym(plugin, "plugin_run"))(number);
    return plugin;
}

int live(const char* plugin, const char* file) {
    const int descriptor = open(file, O_RDWR | O_CLOEXEC);
    void* const map = mmap(nullptr, 8, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (map == MAP_FAILED) return 4;
    SP_INFO("main");
    record_in_part();
    if (dlclose(load(plugin, 1)) != 0) return 5;
    SP_INFO("unloaded");
    load(plugin, 2);
    std::atexit([] { SP_INFO("atexit"); });
    thread_local struct AtThreadEnd {
        ~AtThreadEnd() { SP_INFO("thread destructor"); }
    } at_end;
    (void)at_end;
    auto* const count = static_cast<std::atomic<std::uint64_t>*>(map);
    std::thread([count] {
        for (std::uint64_t i = 0;; ++i) {
            SP_TRACE("outlives {}", i);
            ++*count;
            if (i % 16 == 0) usleep(200);
        }
    }).detach();
    counted = count;
    let_it_record();
    return 0;
}

// The test has the text and the JSON of each, in this order.
void texts() {
    using namespace std::string_literals;
    using namespace std::string_view_literals;
    // Both halves alone, a pair, and a half at the end.
    const char16_t halves[] = {u'a', 0xD800, u'b', 0xDC00, 0xD83D, 0xDE00, 0xD83D, 0};
    SP_INFO("{}", std::u16string(halves));
    SP_INFO("{}", std::u16string_view(halves));
    SP_INFO("{}", halves);
    const char16_t* const pointer16 = halves;
    SP_INFO("{}", pointer16);
    SP_INFO("{}", u"gr\u00fc\u00dfe \U0001F600");
    // No characters: a half, and what is beyond the last.
    const wchar_t wide[] = {L'a', static_cast<wchar_t>(0xD800), static_cast<wchar_t>(0x110000), L'\U0001F600',
                            0};
    SP_INFO("{}", std::wstring(wide));
    SP_INFO("{}", std::wstring_view(wide));
    SP_INFO("{}", wide);
    const wchar_t* const pointer = wide;
    SP_INFO("{}", pointer);
    SP_INFO("{}", L"\u6f22\u5b57 \U0001F600");
    const wchar_t* const none = nullptr;
    SP_INFO("{}", none);
    SP_INFO("{}", U"\U0001F600"s);
    SP_INFO("{}", U"\U0001F600"sv);
    SP_INFO("{}", U"\U0001F600");
    SP_INFO("{}", u8"\U0001F600"s);
    SP_INFO("{}", u8"\U0001F600"sv);
    SP_INFO("{}", u8"\U0001F600");
    SP_INFO("{} {} {} {}", L'\U0001F600', u'\u20ac', U'\U0001F600', u8'x');
    // Within others.
    SP_INFO("{}", std::vector<std::wstring>{L"\U0001F600", L""});
    SP_INFO("{}", std::map<std::u16string, std::u32string>{{u"k\u00e9", U"\U0001F600"}});
    SP_INFO("{}", std::optional<std::wstring_view>(L"w"));
    SP_INFO("{}", std::tuple<std::wstring, std::u16string, std::u8string>(L"w", u"s", u8"e"));
    SP_INFO << "stream" << L"w\U0001F600" << std::u16string(u"s\U0001F600");
    // Lengths are lengths; what has none ends at the first NUL.
    SP_INFO("{}", "a\0b"s);
    SP_INFO("{}", "a\0b"sv);
    SP_INFO("{}", "a\0b");
    SP_INFO("{}", u"a\0b"s);
    SP_INFO("{}", u"a\0b");
    SP_INFO("{}", L"a\0b"sv);
    SP_INFO("{}", L"a\0b");
    SP_INFO("{}", U"a\0b"sv);
    SP_INFO("{}", U"a\0b");
    SP_INFO("{}", u8"a\0b"sv);
    SP_INFO("{}", u8"a\0b");
    SP_INFO("{}", L"line\nnext\x1b[31m"s);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 2) return live(argv[1], argv[2]);
    texts();
}
