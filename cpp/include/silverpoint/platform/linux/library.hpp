// Libraries that are loaded while the program runs, and threads for work of ours, on Linux.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#include <csignal>

#include "../../detail/config.hpp"

SP_DETAIL_BEGIN

// From the C library, if the program has them: with older ones a program that needs none need not link them.
[[gnu::weakref("dlopen"), gnu::unused]] static void* weak_dlopen(const char*, int);
[[gnu::weakref("dlsym"), gnu::unused]] static void* weak_dlsym(void*, const char*);
[[gnu::weakref("dlerror"), gnu::unused]] static char* weak_dlerror();
[[gnu::weakref("pthread_create"), gnu::unused]] static int weak_pthread_create(pthread_t*,
                                                                               const pthread_attr_t*,
                                                                               void* (*)(void*), void*);

// A function of a library, which stays loaded; null, and why, if it cannot be had.
SP_DETAIL_COLD void* load_function(const char* library, const char* function, const char*& why) {
    why = "the program is linked statically";
    if (&weak_dlopen == nullptr || &weak_dlsym == nullptr || &weak_dlerror == nullptr) return nullptr;
    if (void* const loaded = weak_dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
        if (void* const found = weak_dlsym(loaded, function)) return found;
    }
    why = weak_dlerror();
    if (why == nullptr) why = library;
    return nullptr;
}

// The object that contains this address stays loaded. (The program itself is refused, and stays anyway.)
inline void keep_loaded(const void* address) {
    Dl_info found;
    if (dladdr(address, &found) != 0 && found.dli_fname != nullptr)
        static_cast<void>(dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

// Whether no signal is blocked. So this is no signal handler, except one that blocks not even its own.
SP_DETAIL_COLD bool blocks_no_signal() {
    sigset_t blocked;
    if (pthread_sigmask(SIG_SETMASK, nullptr, &blocked) != 0) return false;
    for (int signal = 1; signal < NSIG; ++signal)
        if (sigismember(&blocked, signal) == 1) return false;
    return true;
}

// Whether `start_thread` can be called here.
inline bool may_start_thread() { return &weak_pthread_create != nullptr && blocks_no_signal(); }

// Runs `body` in a thread of its own, which handles no signals; false if there is no room for one.
SP_DETAIL_COLD bool start_thread(void (*body)()) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const auto run = [](void* argument) -> void* {
        reinterpret_cast<void (*)()>(argument)();
        return nullptr;
    };
    const bool started = weak_pthread_create(&thread, nullptr, run, reinterpret_cast<void*>(body)) == 0;
    if (started) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

SP_DETAIL_END
