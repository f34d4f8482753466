// A program that forks: both processes record after it. With an argument it forks at once, before LTTng is
// open, and else when there is input.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <silverpoint/silverpoint.hpp>

SP_CATEGORY("shop")

static void one(const char* who) { SP_EVENT("parent or child", who); }

// In the child the span ends before there is a session of its own.
static pid_t within_span(bool forks) {
    SP_SPAN("span");
    return forks ? fork() : -1;
}

static pid_t family() {
    const pid_t child = within_span(true);
    one(child == 0 ? "child" : "parent");
    return child;
}

int main(int argc, char**) {
    one("first");
    within_span(false);
    pid_t child = -1;
    if (argc > 1) child = family();
    // It stays there: both processes wait for it.
    pollfd input{STDIN_FILENO, POLLIN, 0};
    poll(&input, 1, -1);
    if (child == -1) child = family();
    // Until LTTng knows the events of both: the test then removes the file.
    for (int i = 0; i < 100 || (i < 6000 && access("unseen", F_OK) == 0); ++i) {
        one(child == 0 ? "child" : "parent");
        usleep(10'000);
    }
    if (child == 0) return 0;
    int status = 0;
    return waitpid(child, &status, 0) == child ? status : 1;
}
