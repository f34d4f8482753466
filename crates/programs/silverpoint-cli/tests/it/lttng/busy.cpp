// A program that forks while its tracepoints become events, in several threads, and ends meanwhile.
#include <sys/wait.h>
#include <unistd.h>

#include <silverpoint/silverpoint.hpp>
#include <thread>
#include <utility>

SP_CATEGORY("shop")

template <int kNumber>
static void one() {
    SP_SPAN("many", kNumber);
}

template <int... kNumbers>
static void all(std::integer_sequence<int, kNumbers...>) {
    (one<kNumbers>(), ...);
}

static int forks() {
    int failed = 0;
    for (int i = 0; i < 15; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            one<0>();
            _exit(0);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || status != 0) ++failed;
    }
    return failed;
}

int main() {
    one<-1>();
    std::thread sites([] { all(std::make_integer_sequence<int, 100>()); });
    int others = 0;
    std::thread second([&others] { others = forks(); });
    const int own = forks();
    sites.join();
    second.join();
    return own + others;
}
