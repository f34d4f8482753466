// Spans within each other, of one tracepoint, with events in between: once for each line of input.
#include <cstdio>
#include <silverpoint/silverpoint.hpp>

SP_CATEGORY("shop")

static void nested(int left) {
    SP_SPAN("level", left);
    SP_EVENT("inside", left);
    if (left > 0) nested(left - 1);
    if (left == 1) {
        SP_ASYNC_SPAN("fetch", left);
    }
    SP_EVENT("after", left);
}

int main() {
    while (std::getchar() != EOF) {
        SP_EVENT("outside");
        nested(2);
        nested(11);
        SP_EVENT("last");
        std::puts("done");
        std::fflush(stdout);
    }
}
