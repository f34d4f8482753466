// Two tracepoints at one place of the source, whose arguments have different types. Each line of input
// executes the first one, after a line `l` the second; then it says so.
#include <cstdio>
#include <silverpoint/silverpoint.hpp>

SP_CATEGORY("shop")

template <class T>
static void tick(T value) {
    SP_EVENT("tick", value);
}

int main() {
    for (char line[16]; std::fgets(line, sizeof line, stdin) != nullptr;) {
        if (line[0] == 'l')
            tick(1L);
        else
            tick(1);
        std::puts("done");
        std::fflush(stdout);
    }
}
