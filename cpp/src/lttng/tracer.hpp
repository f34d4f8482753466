// liblttng-ust, opened when it is asked for.
#pragma once

#include <dlfcn.h>

#include <csignal>
#include <silverpoint/detail/sys.hpp>

#include "abi.hpp"

namespace silverpoint::lttng {

struct Tracer {
    void* (*register_probe)(const ProbeDesc*) = nullptr;
    int (*register_tracepoints)(Tracepoint* const*, int) = nullptr;
    void (*lock)() = nullptr;
    void (*unlock)() = nullptr;
    // Null where it has none.
    void* (*register_contexts)(ContextProvider*) = nullptr;
    // Null where liblttng-ust-fork is preloaded, which calls them.
    void (*before_fork)(sigset_t*) = nullptr;
    void (*after_fork_parent)(sigset_t*) = nullptr;
    void (*after_fork_child)(sigset_t*) = nullptr;

    // False: it is not there, or unsuitable, which is reported.
    bool open();
    // Whether liblttng-ust-fork is preloaded: liblttng-ust is loaded with it.
    static bool is_fork_wrapped() {
        return dlopen("liblttng-ust-fork.so.1", RTLD_LAZY | RTLD_NOLOAD) != nullptr;
    }
};

inline Tracer tracer;

inline bool Tracer::open() {
    constexpr const char* kName = "liblttng-ust.so.1";
    void* const library = dlopen(kName, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
        detail::Text<600> line;
        line.add("SILVERPOINT_PROBES=lttng: LTTng gets no events: ");
        const char* why = dlerror();
        if (why == nullptr) why = kName;
        line.add(why, strnlen(why, 400));
        void* const old = dlopen("liblttng-ust.so.0", RTLD_LAZY | RTLD_NOLOAD);
        if (old != nullptr) line.add(" (liblttng-ust.so.0 is loaded, which is older than 2.13)");
        line.add("; install liblttng-ust 2.13 or later (Debian: liblttng-ust1)");
        detail::warn(line.c_str());
        return false;
    }
    const char* missing = nullptr;
    const auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        if (function == nullptr && missing == nullptr) missing = name;
    };
    find(register_probe, "lttng_ust_probe_register");
    find(register_tracepoints, "lttng_ust_tracepoint_module_register");
    find(lock, "lttng_ust_tp_rcu_read_lock");
    find(unlock, "lttng_ust_tp_rcu_read_unlock");
    register_contexts =
        reinterpret_cast<decltype(register_contexts)>(dlsym(library, "lttng_ust_context_provider_register"));
    if (!is_fork_wrapped()) {
        find(before_fork, "lttng_ust_before_fork");
        find(after_fork_parent, "lttng_ust_after_fork_parent");
        find(after_fork_child, "lttng_ust_after_fork_child");
    }
    if (missing == nullptr) return true;
    detail::Text<600> line;
    line.add("SILVERPOINT_PROBES=lttng: LTTng gets no events: ")
        .add(kName)
        .add(" has no function ")
        .add(missing);
    line.add("; versions 2.13 and later have it");
    detail::warn(line.c_str());
    return false;
}

}  // namespace silverpoint::lttng
