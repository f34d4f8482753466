// The library with a backend that appends to a file what the kernel would get.
//
// Each entry is one write: u32 kind, u32 index or count, u32 size, bytes. Kinds are 0 for a tracepoint, 1 for
// an event, and 2 for how many sites have an event. All tracepoints are enabled, except those whose
// declaration has the text DISABLED. Or they are enabled while the file WISH_OF_EVENTS is there; a file of
// this name with `.done` follows behind that. LIMIT is how many there may be.
#include <fcntl.h>
#include <stdlib.h>

#include <string>
#include <user_events/registrar.hpp>

using namespace silverpoint::user_events;

// As the library of another tracer: its function, and the variable that names its file.
#ifndef START
#    define START silverpoint_start_user_events
#    define VARIABLE "EVENTS"
#endif

static int file = -1;

static void put(std::uint32_t kind, std::uint32_t index, iovec* parts, int count) {
    std::uint32_t head[3] = {kind, index, 0};
    for (int i = 1; i < count; ++i) head[2] += static_cast<std::uint32_t>(parts[i].iov_len);
    parts[0] = {head, sizeof head};
    if (writev(file, parts, count) != static_cast<ssize_t>(sizeof head + head[2])) abort();
}

static constinit std::uint32_t tracepoints = 0;

// Enables tracepoints, and disables them, as the kernel does: by a store alone.
static const char* const wish = getenv("WISH_OF_" VARIABLE);
static std::atomic<int*> switched[64];
static void switch_all() {
    if (wish == nullptr) return;
    const int is_there = access(wish, F_OK) == 0;
    for (const std::atomic<int*>& one : switched)
        if (int* const enabled = one.load()) __atomic_store_n(enabled, is_there, __ATOMIC_RELAXED);
    static const std::string done = std::string(wish) + ".done";
    if (is_there) {
        close(open(done.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    } else {
        unlink(done.c_str());
    }
}
static constexpr Backend appending{
    [] {
        const char* const path = getenv(VARIABLE);
        file = path == nullptr ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        return file < 0 ? errno : 0;
    },
    [] {},
    [] { return false; },
    [](const char* declaration, int* enabled, std::uint32_t* index) {
        const char* const disabled = getenv("DISABLED");
        const char* const limit = getenv("LIMIT");
        if (limit != nullptr && tracepoints >= strtoul(limit, nullptr, 10)) return EMFILE;
        *index = tracepoints++;
        *enabled = wish == nullptr && (disabled == nullptr || strstr(declaration, disabled) == nullptr);
        if (*index < std::size(switched)) switched[*index].store(enabled);
        iovec parts[2] = {{}, {const_cast<char*>(declaration), strlen(declaration)}};
        put(0, *index, parts, 2);
        return 0;
    },
    [](std::uint32_t index, iovec* parts, int count) {
        put(1, index, parts, count);
        return true;
    },
    VARIABLE,
    8184};

static constinit Registrar registrar{appending};

#ifdef LATE
// A library that comes late: in the process that was started (0), or in a forked child (1). There it waits
// for the other one's events, and tells by a count of 1000 when its own are behind them.
static const pid_t first_process = getpid();

static void* be_late(void* of) {
    const Control& control = *static_cast<const Control*>(of);
    const auto wait_for = [&control](auto is_there) {
        for (bool is_whole = false; !is_whole; usleep(1000)) {
            is_whole = control.count() > 0;
            for (std::uint32_t number = 0; number < control.count(); ++number)
                is_whole =
                    is_whole && control.is_complete(number) && is_there(control.published(number).load());
        }
    };
    wait_for([](std::uint64_t event) { return event != 0; });
    registrar.start(control.base, control.size);
    wait_for([](std::uint64_t event) {
        return event != 0 && reinterpret_cast<const ProbeEvent*>(event)->following() != nullptr;
    });
    iovec parts[1] = {};
    put(2, 1000, parts, 1);
    return nullptr;
}
#endif

// Tells how many sites have an event, whenever that changes.
static void* watch(void* of) {
    const Control control{static_cast<char*>(of), 0};
    for (std::uint32_t last = 0;; usleep(1000)) {
        switch_all();
        std::uint32_t now = 0;
        for (std::uint32_t number = 0; number < control.count(); ++number)
            if (control.is_complete(number) && control.published(number).load() != 0) ++now;
        iovec parts[1] = {};
        if (now != last && file >= 0) put(2, last = now, parts, 1);
    }
}

extern "C" [[gnu::visibility("default")]] void START(char* control, std::size_t size) {
    pthread_t thread;
#ifdef LATE
    if ((getpid() != first_process) == LATE) {
        auto* const late = new Control{static_cast<char*>(mremap(control, 0, size, MREMAP_MAYMOVE)), size};
        if (pthread_create(&thread, nullptr, be_late, late) != 0) abort();
        pthread_detach(thread);
        return;
    }
#endif
    registrar.start(control, size);
    if (pthread_create(&thread, nullptr, watch, mremap(control, 0, size, MREMAP_MAYMOVE)) != 0) abort();
    pthread_detach(thread);
}
