// Ends in the way that its argument says, for crash_test: `crash WAY`.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <silverpoint/crash.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#undef NDEBUG
#include <cassert>

namespace {

volatile std::uintptr_t low_address = 16;

[[gnu::noinline]] void fault() { *reinterpret_cast<volatile int*>(low_address) = 1; }

// Ends long after the stack does.
[[gnu::noinline]] unsigned descend(unsigned depth) {
    volatile char room[256];
    room[0] = static_cast<char>(depth);
    if (depth == 0xFFFFFFFF) return 0;
    return descend(depth + 1) + static_cast<unsigned>(room[0]);
}
void use_up_stack() { std::printf("%u\n", descend(0)); }

// Its name has more than a thousand characters. The text of an assert has it before the condition.
template <class... Types>
[[gnu::noinline]] void assert_in_long_function() {
    assert(low_address == 18);
}

// What glibc keeps of its own message is replaced, and then the program aborts without one.
[[gnu::noinline]] void abort_with_message_at(std::uintptr_t place) {
    auto* const variable = static_cast<std::uintptr_t*>(dlvsym(RTLD_DEFAULT, "__abort_msg", "GLIBC_PRIVATE"));
    if (variable == nullptr) std::_Exit(4);
    *variable = place;
    std::abort();
}

// The last bytes of memory, behind which nothing is: a length, and text of 4 bytes without an end.
std::uintptr_t message_at_end_of_memory(std::uint32_t length) {
    auto* const pages =
        static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    munmap(pages + 4096, 4096);
    std::memcpy(pages + 4088, &length, 4);
    std::memcpy(pages + 4092, "text", 4);
    return reinterpret_cast<std::uintptr_t>(pages + 4088);
}

void unused(const char* text) {
    [[maybe_unused]] const auto written = write(1, text, __builtin_strlen(text));
}

sigjmp_buf back_there;

void prepare(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigaction(signal, &action, nullptr);
}

const std::map<std::string_view, std::function<void()>> ways = {
    {"segv", fault},
    {"null", [] { reinterpret_cast<void (*)()>(low_address - 16)(); }},
    {"trap", [] { __builtin_trap(); }},
    {"bus",
     [] {
         const int fd = memfd_create("empty", MFD_CLOEXEC);
         *static_cast<volatile char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) = 1;
     }},
    {"abort", [] { std::abort(); }},
    {"assert", [] { assert(low_address == 17); }},
    {"assert-in-long-function",
     [] {
         using Longer = std::map<std::string, std::map<std::string, std::string>>;
         assert_in_long_function<Longer, Longer, Longer>();
     }},
    {"heap",
     [] {
         const auto room = reinterpret_cast<std::uintptr_t>(std::malloc(64));
         std::free(reinterpret_cast<void*>(room + low_address / 2));
     }},
    // A program that survives an assert, and aborts without a message.
    {"assert-and-abort",
     [] {
         if (sigsetjmp(back_there, 1) == 0) assert(low_address == 17);
         if (sigsetjmp(back_there, 1) == 0) std::abort();
     }},
    {"message-nowhere", [] { abort_with_message_at(low_address); }},
    {"message-within-nothing", [] { abort_with_message_at(~std::uintptr_t{0} - 2); }},
    {"message-too-long", [] { abort_with_message_at(message_at_end_of_memory(~std::uint32_t{0})); }},
    {"message-too-short", [] { abort_with_message_at(message_at_end_of_memory(3)); }},
    {"message-of-nothing", [] { abort_with_message_at(message_at_end_of_memory(4)); }},
    {"message-kept-out",
     [] {
         const std::uintptr_t at = message_at_end_of_memory(8);
         mprotect(reinterpret_cast<void*>(at & ~std::uintptr_t{4095}), 4096, PROT_NONE);
         abort_with_message_at(at);
     }},
    {"term", [] { raise(SIGTERM); }},
    {"check", [] { SP_CHECK(low_address == 17); }},
    {"check-with-text", [] { SP_CHECK(low_address == 17, "it is {}", std::uintptr_t{low_address}); }},
    {"check-passed", [] { SP_CHECK(low_address == 16, "it is {}", std::uintptr_t{low_address}); }},
    {"throw", [] { throw std::runtime_error("out of luck"); }},
    {"throw-number", [] { throw 7; }},
    {"terminate", [] { std::terminate(); }},
    {"stack", use_up_stack},
    {"stack-of-thread",
     [] {
         std::thread([] {
             SP_INFO("first");
             use_up_stack();
         }).join();
     }},
    {"stack-of-prepared-thread",
     [] {
         std::thread([] {
             silverpoint::prepare_thread_for_crash();
             use_up_stack();
         }).join();
     }},
    // The fault is within the tracepoint, whose lane is busy.
    {"within-record",
     [] {
         for (int i = 0; i < 3; ++i) SP_INFO("before {}", i);
         SP_INFO("never {}", std::string_view(reinterpret_cast<const char*>(low_address), 100));
     }},
    // The stack pointer is no stack's.
    {"lost-stack",
     [] {
#if defined(__x86_64__)
         asm volatile("mov $64, %%rsp; mov $64, %%rbp; movl $1, (%0)" : : "a"(low_address) : "memory");
#else
         fault();
#endif
     }},
    {"forked",
     [] {
         const pid_t child = fork();
         if (child == 0) {
             fault();
             _exit(1);
         }
         int status = 0;
         waitpid(child, &status, 0);
         std::printf("%d %d\n", static_cast<int>(child), status);
     }},
    {"two-threads",
     [] {
         std::thread other(fault);
         fault();
         other.join();
     }},
    // Handlers that were there before. Each installs itself before main installs ours.
    {"chained-plain", fault},
    {"chained-info", fault},
    {"chained-jump",
     [] {
         static int times = 0;
         while (times++ < 2)
             if (sigsetjmp(back_there, 1) == 0) fault();
     }},
    {"chained-fault", fault},
    {"chained-abort", fault},
    {"chained-terminate", [] { throw std::runtime_error("out of luck"); }},
    {"ignored",
     [] {
         raise(SIGTERM);
         unused("alive\n");
         std::abort();
     }},
};

void before(std::string_view way) {
    if (way == "chained-plain") {
        prepare(SIGSEGV, [](int) {
            unused("chained\n");
            _exit(7);
        });
    } else if (way == "chained-info") {
        struct sigaction action {};
        action.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND);
        action.sa_sigaction = [](int, siginfo_t* info, void* context) {
            const bool is_right = info->si_addr == reinterpret_cast<void*>(low_address) && context != nullptr;
            unused(is_right ? "chained\n" : "wrong\n");
        };
        sigaction(SIGSEGV, &action, nullptr);
    } else if (way == "assert-and-abort") {
        prepare(SIGABRT, [](int) { siglongjmp(back_there, 1); });
    } else if (way == "chained-jump") {
        prepare(SIGSEGV, [](int) { siglongjmp(back_there, 1); });
    } else if (way == "chained-fault") {
        struct sigaction action {};
        action.sa_flags = static_cast<int>(SA_NODEFER);
        action.sa_handler = [](int) { fault(); };
        sigaction(SIGSEGV, &action, nullptr);
    } else if (way == "chained-abort") {
        prepare(SIGSEGV, [](int) { std::abort(); });
    } else if (way == "chained-terminate") {
        std::set_terminate([] {
            unused("chained\n");
            std::abort();
        });
    } else if (way == "ignored") {
        prepare(SIGTERM, SIG_IGN);
        prepare(SIGABRT, SIG_IGN);
    }
}

// With any limits of the shell: a stack that ends before the memory does, and no core files.
void set_limits() {
    rlimit limit{};
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = limit.rlim_max < (8u << 20) ? limit.rlim_max : (8u << 20);
    setrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = limit.rlim_max = 0;
    setrlimit(RLIMIT_CORE, &limit);
}

}  // namespace

int main(int, char** arguments) {
    set_limits();
    before(arguments[1]);
    silverpoint::crash_options options;
    options.term = options.trap = true;
    if (!silverpoint::install_crash_handler(options)) return 3;
    if (std::string_view(arguments[1]) == "nothing") return 0;
    SP_INFO("begun");
    ways.at(arguments[1])();
    std::puts("end");
}
