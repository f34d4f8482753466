/* A program in C with a logger, and a child of it that fails a check. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <silverpoint/start.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Older than the logger's: it is called behind that. */
static void aborted(int signal) {
    static const char text[] = "the handler before\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(signal);
}

static int fail(void) {
    volatile int one = 1;
    struct sigaction action = {0};
    action.sa_handler = aborted;
    if (sigaction(SIGABRT, &action, NULL) != 0) return 3;
    if (sp_start_logger("crash-wait = '60s'\n[[sink]]\nto = 'stderr'\n", NULL, 0) != SILVERPOINT_DONE)
        return 1;
    SP_INFO("number %d of %s", 8, "C");
    SP_CHECK(one == 0, "it is %d", one);
    return 2;
}

int main(void) {
    const pid_t child = fork();
    if (child == 0) return fail();
    int status = 0;
    if (waitpid(child, &status, 0) != child) return 1;
    if (!WIFSIGNALED(status)) {
        printf("exit %d\n", WEXITSTATUS(status));
        return 2;
    }
    printf("ended by signal %d\n", WTERMSIG(status));
    return 0;
}
