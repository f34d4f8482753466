// A program with ten thousand tracepoints. It executes all, then again for each line of input. Signals come
// on an alternate stack of 8 KiB, and are events, too.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <vector>

SP_CATEGORY("shop")

namespace detail = silverpoint::detail;

static constexpr unsigned kCount = 10'000;

namespace {

// As a statement of the source: a place of its own.
struct Statement {
    detail::Site site;
    std::string name;

    explicit Statement(unsigned number)
        : site(silverpoint::Level::kInfo, "many.cpp", number + 1), name("many" + std::to_string(number)) {}
    void execute(int value) {
        if (site.is_wanted("execute", "shop"))
            detail::record(site, detail::Kind::kEvent, "value\n", name, value);
    }
};

}  // namespace

static void handle(int) {
    const std::string_view text = "on an alternate stack";
    SP_EVENT("signal", text);
}

int main() {
    static char stack[8192];
    const stack_t alternate{stack, 0, sizeof stack};
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_ONSTACK;
    if (sigaltstack(&alternate, nullptr) != 0 || sigaction(SIGUSR1, &action, nullptr) != 0) return 1;
    std::vector<std::unique_ptr<Statement>> all;
    for (unsigned i = 0; i < kCount; ++i) all.push_back(std::make_unique<Statement>(i));
    do {
        for (const auto& one : all) one->execute(7);
        std::raise(SIGUSR1);
        std::puts("done");
        std::fflush(stdout);
    } while (std::getchar() != EOF);
}
