// Calls managed code before SIGTERM ends the process, for a runtime that has nothing of the kind (Mono).
//
//   SIGTERM ──▶ handler: wakes the watcher ──▶ watcher: a thread calls back, for a bounded time ──▶ the
//   default action
//
// The handler is there while there are callbacks, and only where SIGTERM has its default action. A program
// that ignores or handles the signal decides itself how it ends.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>

namespace {

using Call = void (*)();

// Domains of the process that have callbacks.
constexpr std::size_t kCallsMost = 64;
// So long the program may take for them.
constexpr time_t kSeconds = 5;

Call calls[kCallsMost];
std::size_t count = 0;
bool has_watcher = false;
// Held while callbacks run, too: one that was removed does not run any more.
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
sem_t signalled, called;

void on_signal(int) {
    const int before = errno;
    sem_post(&signalled);
    errno = before;
}

// Makes `to` the action in place of `from`. Somebody else's action stays.
bool replace(void (*from)(int), void (*to)(int)) {
    struct sigaction now {};
    if (sigaction(SIGTERM, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != from)
        return false;
    struct sigaction action {};
    action.sa_handler = to;
    action.sa_flags = SA_RESTART;
    return sigaction(SIGTERM, &action, nullptr) == 0;
}

void* call_all(void*) {
    pthread_mutex_lock(&lock);
    for (std::size_t i = 0; i < count; ++i) calls[i]();
    pthread_mutex_unlock(&lock);
    sem_post(&called);
    return nullptr;
}

void* watch(void*) {
    for (;;) {
        while (sem_wait(&signalled) != 0) {
        }
        pthread_t thread;
        if (pthread_create(&thread, nullptr, &call_all, nullptr) == 0) {
            pthread_detach(thread);
            timespec until{};
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_sec += kSeconds;
            while (sem_timedwait(&called, &until) != 0 && errno == EINTR) {
            }
        }
        // Somebody else may handle the signal by now: then it is theirs.
        replace(&on_signal, SIG_DFL);
        kill(getpid(), SIGTERM);
    }
}

bool start_watcher() {
    if (has_watcher) return true;
    if (sem_init(&signalled, 0, 0) != 0 || sem_init(&called, 0, 0) != 0) return false;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64u << 10);
    pthread_t thread;
    has_watcher = pthread_create(&thread, &small, &watch, nullptr) == 0;
    pthread_attr_destroy(&small);
    if (has_watcher) pthread_detach(thread);
    return has_watcher;
}

}  // namespace

#define SPN_EXPORT extern "C" [[gnu::visibility("default")]]

SPN_EXPORT void spn_call_at_sigterm(Call call);
SPN_EXPORT void spn_do_not_call_at_sigterm(Call call);

// From now on `call` runs before SIGTERM ends the process, on a thread of its own.
SPN_EXPORT void spn_call_at_sigterm(Call call) {
    pthread_mutex_lock(&lock);
    if (count < kCallsMost && start_watcher()) {
        calls[count++] = call;
        if (count == 1) replace(SIG_DFL, &on_signal);
    }
    pthread_mutex_unlock(&lock);
}

// When this returns, `call` does not run and will not. Not to be called with a lock that `call` takes.
SPN_EXPORT void spn_do_not_call_at_sigterm(Call call) {
    pthread_mutex_lock(&lock);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (calls[i] != call) calls[kept++] = calls[i];
    count = kept;
    if (count == 0) replace(&on_signal, SIG_DFL);
    pthread_mutex_unlock(&lock);
}
