// One round of tracepoints for each line of input.
//
// A line `c` closes all descriptors first, as a daemon does, and opens files of its own under their numbers.
// A line `s` holds a span open until the next line.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <silverpoint/context.hpp>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <vector>

SP_CATEGORY("shop")

static bool next(char (&line)[16]) {
    if (std::fgets(line, sizeof line, stdin) == nullptr) return false;
    if (line[0] != 'c') return true;
    for (int descriptor = 3; descriptor < 64; ++descriptor) close(descriptor);
    const int own = open("own", O_RDWR | O_CREAT | O_APPEND, 0600);
    for (int descriptor = 3; descriptor < 20; ++descriptor) dup2(own, descriptor);
    return true;
}
static void done() {
    std::puts("done");
    std::fflush(stdout);
}

int main() {
    int i = 0;
    for (char line[16]; next(line); done()) {
        ++i;
        const std::string name = "A|\n" + std::to_string(i);
        SP_INFO("order {} at {:.2f} of {}: {{}}", i, 0.5, name);
        SP_WARNF("%d of %s, %*.1f%%", i, "nine", 5, 2.5);
        const std::vector parts{i, 1};
        SP_EVENT("sold", i, name, parts);
        SP_COUNTER("depth", i / 2.0);
        {
            SP_SPAN("sell", i, name);
            SP_CONTEXT("request", i);
            SP_ERROR << "within" << i << true;
            if (line[0] == 's') {
                done();
                if (!next(line)) return 1;
            }
        }
        { SP_ASYNC_SPAN("fetch", i); }
        SP_INFO("{}", std::string(5000, 'x'));
    }
}
