// facility: syslog
// how: syslog(3) of the C library. A process behind a /dev/log of the driver's own writes each message to a
// file, and does nothing else. Its CPU time counts
// asks: namespace
// in: s4 cases
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include <cstring>
#include <iterator>

#include "facility.hpp"

static pid_t the_daemon;

// Receives until an empty message says that no more will come.
[[noreturn]] static void receive(int listening, const char* file) {
    std::FILE* out = std::fopen(file, "we");
    if (!out) give_up("syslog: the file");
    static char buffer[1 << 20], message[8192];
    std::setvbuf(out, buffer, _IOFBF, sizeof buffer);
    for (;;) {
        const ssize_t length = recv(listening, message, sizeof message - 1, 0);
        if (length < 0) give_up("syslog: recv");
        if (length == 0) break;
        // The C library ends a message with its zero byte or without, as it likes.
        std::size_t size = strnlen(message, static_cast<std::size_t>(length));
        message[size++] = '\n';
        if (std::fwrite(message, 1, size, out) != size) give_up("syslog: the file");
    }
    if (std::fclose(out) != 0) give_up("syslog: the file");
    std::_Exit(0);
}

static void begin(const Run& run) {
    // Nobody else's /dev/log: it is mounted for this process and its children alone, and gone with them.
    const int spaces = geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    if (unshare(spaces) != 0) give_up("syslog: unshare");
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) give_up("syslog: mount /");
    if (mount("bench", "/dev", "tmpfs", 0, "mode=755,size=1m") != 0) give_up("syslog: mount /dev");
    const int listening = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strcpy(name.sun_path, "/dev/log");
    if (listening < 0 || bind(listening, reinterpret_cast<sockaddr*>(&name), sizeof name) != 0)
        give_up("syslog: /dev/log");
    the_daemon = fork();
    if (the_daemon < 0) give_up("syslog: fork");
    if (the_daemon == 0) receive(listening, run.file.c_str());
    close(listening);
    openlog("driver", LOG_NDELAY | LOG_PID, LOG_USER);
    setlogmask(LOG_UPTO(LOG_INFO));
}
static void flush() {}
static void end() {
    closelog();
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strcpy(name.sun_path, "/dev/log");
    const int sending = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int status = 0;
    if (sending < 0 || sendto(sending, "", 0, 0, reinterpret_cast<sockaddr*>(&name), sizeof name) != 0 ||
        waitpid(the_daemon, &status, 0) != the_daemon || status != 0)
        give_up("syslog: the end");
    close(sending);
}
#define STATEMENT(title, count, pointer, string, real)                                           \
    syslog(LOG_INFO, "%s iteration #%u %s%s and a float: %.6g", (title).c_str(), count, pointer, \
           (string).c_str(), real)
#define LITERAL() syslog(LOG_INFO, "bench literal")
#define THREE(id, index, fraction) \
    syslog(LOG_INFO, "bench three %llu %d %g", static_cast<unsigned long long>(id), index, fraction)
#define TEXT(id, fraction, path) \
    syslog(LOG_INFO, "bench text %llu %g %s", static_cast<unsigned long long>(id), fraction, (path).c_str())
#define OFF(id, path) \
    syslog(LOG_DEBUG, "bench off %llu %s", static_cast<unsigned long long>(id), (path).c_str())
