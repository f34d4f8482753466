// Threads of the libraries for tracers of Linux.
#pragma once

#include <pthread.h>

#include <csignal>

namespace silverpoint::probes {

// Starts a detached thread that takes no signals: those are the program's. False: it could not be started.
inline bool start_thread(void* (*body)(void*), void* of) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const bool is_started = pthread_create(&thread, nullptr, body, of) == 0;
    if (is_started) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return is_started;
}

}  // namespace silverpoint::probes
