// Records one event for each line of input, and says so. Before that a line `c` closes all descriptors, as a
// daemon does, and opens files of its own under their numbers. A line `f` forks, and the child records until
// there is a file `enough`, but 300 times at least. From a line `g` on the child obeys; the parent waits for
// its end. A line `o` records another event.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <silverpoint/silverpoint.hpp>

SP_CATEGORY("shop")

static void tick() { SP_EVENT("tick"); }

int main() {
    for (char line[16]; std::fgets(line, sizeof line, stdin) != nullptr;) {
        if (line[0] == 'c') {
            for (int descriptor = 3; descriptor < 64; ++descriptor) close(descriptor);
            const int own = open("own", O_RDWR | O_CREAT | O_APPEND, 0600);
            for (int descriptor = 3; descriptor < 20; ++descriptor) dup2(own, descriptor);
        }
        if (line[0] == 'g') {
            const pid_t child = fork();
            int status = 0;
            if (child != 0) _exit(waitpid(child, &status, 0) == child && status == 0 ? 0 : 1);
        } else if (line[0] == 'o') {
            SP_EVENT("other");
        } else if (line[0] == 'f') {
            const pid_t child = fork();
            if (child == 0) {
                // Its session begins with its first record, and its events shortly after.
                for (int i = 0; i < 300 || (i < 60'000 && access("enough", F_OK) != 0); ++i) {
                    tick();
                    usleep(10'000);
                }
                _exit(0);
            }
            waitpid(child, nullptr, 0);
        } else {
            tick();
        }
        std::puts("done");
        std::fflush(stdout);
    }
}
