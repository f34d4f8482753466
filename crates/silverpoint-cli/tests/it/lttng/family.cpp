// A program that forks: both processes record after it.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <silverpoint/silverpoint.hpp>

SP_CATEGORY("shop")

static void one(const char* who) { SP_EVENT("parent or child", who); }

int main() {
    one("first");
    if (std::getchar() == EOF) return 1;
    const pid_t child = fork();
    if (child == 0) {
        // Its events are known to LTTng when it is.
        for (int i = 0; i < 100; ++i) {
            one("child");
            usleep(10'000);
        }
        return 0;
    }
    one("parent");
    int status = 0;
    return waitpid(child, &status, 0) == child ? status : 1;
}
