/* Preloaded: the kernel's side of user_events, by the numbers of linux/user_events.h. What is written goes to
 * the file EVENTS, behind each event's size; registered names go to EVENTS.names. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int file = -1;
/* Numbers of tracepoints are a file's; words are the process's, and outlive it. */
static uint32_t names, words;
static uint64_t known[64];

static int open_really(const char* path, int flags, int mode) {
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char* path, int flags, ...) {
    int mode = 0;
    if ((flags & O_CREAT) != 0) {
        va_list more;
        va_start(more, flags);
        mode = va_arg(more, int);
        va_end(more);
    }
    if (strcmp(path, "/sys/kernel/tracing/user_events_data") != 0) return open_really(path, flags, mode);
    if ((flags & O_ACCMODE) != O_RDWR) abort();
    if (getenv("REFUSED") != NULL) {
        errno = EACCES;
        return -1;
    }
    names = 0;
    return file = open_really(getenv("EVENTS"), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

int ioctl(int descriptor, unsigned long request, ...) {
    va_list more;
    va_start(more, request);
    char* const given = va_arg(more, char*);
    va_end(more);
    if (descriptor != file || file < 0) return (int)syscall(SYS_ioctl, descriptor, request, given);
    /* DIAG_IOCSREG: u32 size, u8 bit, u8 bytes of the word, u16 flags, u64 word, u64 name, u32 index. */
    uint32_t size;
    uint64_t word, name;
    memcpy(&size, given, 4);
    /* DIAG_IOCSUNREG: u32 size, u8 bit, u8[3] zero, u64 word. */
    if (request == 0x40082A02) {
        memcpy(&word, given + 8, 8);
        for (uint32_t i = 0; i < words; ++i)
            if (known[i] == word) {
                known[i] = known[--words];
                return 0;
            }
        errno = ENOENT;
        return -1;
    }
    memcpy(&word, given + 8, 8);
    memcpy(&name, given + 16, 8);
    if (request != 0xC0082A00 || size != 28 || given[4] != 0 || given[5] != 4 || given[6] != 0 ||
        given[7] != 0 || word % 4 != 0)
        abort();
    for (uint32_t i = 0; i < words; ++i)
        if (known[i] == word) {
            errno = EADDRINUSE;
            return -1;
        }
    known[words++] = word;
    const uint32_t index = 1000 + names++;
    char path[4096], line[4096];
    snprintf(path, sizeof path, "%s.names", getenv("EVENTS"));
    const int len = snprintf(line, sizeof line, "%u %s\n", index, (const char*)(uintptr_t)name);
    const int to = open_really(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (write(to, line, (size_t)len) != len) abort();
    close(to);
    memcpy(given + 24, &index, 4);
    *(int*)(uintptr_t)word = 1;
    return 0;
}

ssize_t writev(int descriptor, const struct iovec* parts, int count) {
    if (descriptor != file || file < 0) return syscall(SYS_writev, descriptor, parts, count);
    struct iovec all[16];
    uint32_t size = 0;
    if (count > 15 || parts[0].iov_len != 4) abort();
    for (int i = 0; i < count; ++i) {
        all[i + 1] = parts[i];
        size += (uint32_t)parts[i].iov_len;
    }
    all[0].iov_base = &size;
    all[0].iov_len = 4;
    return syscall(SYS_writev, descriptor, all, count + 1);
}
