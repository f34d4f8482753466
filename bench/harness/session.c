/* Looks at this process's own Silverpoint session as any stranger could: by the offsets of spec/wire.md, with
 * pread. The library under test is not asked about itself.
 *
 * The root is $SILVERPOINT_DIR, which the runner sets. The session's collector is found by its pid in the
 * header; its supervisor is this process's parent.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

enum {
    kHeaderBytes = 4096,
    kSlabBytesAt = 112, /* u32 */
    kSlabCountAt = 116, /* u32 */
    kSlabsAt = 120,     /* u64 */
    kSlabsNextAt = 520, /* u32 */
    kSessionLossesAt = 560,
    kCollectorPidAt = 768,
    kCauses = 8,
    kRingBytes = 256,
    kRingMagic = 0x47525053,
    kRingLive = 2,
    kRingRetired = 3,
};

static int control_fd = -1, rings_fd = -1;

static uint32_t u32_at(const unsigned char* bytes, size_t at) {
    uint32_t value;
    memcpy(&value, bytes + at, sizeof value);
    return value;
}

static uint64_t u64_at(const unsigned char* bytes, size_t at) {
    uint64_t value;
    memcpy(&value, bytes + at, sizeof value);
    return value;
}

/* Opens the session of this process with the highest number; it may not be there yet. */
static bool open_session(void) {
    if (control_fd >= 0) return true;
    const char* root = getenv("SILVERPOINT_DIR");
    if (!root) return false;
    char prefix[32], best[512] = "";
    snprintf(prefix, sizeof prefix, "%ld-", (long)getpid());
    DIR* directory = opendir(root);
    if (!directory) return false;
    long highest = -1;
    for (struct dirent* entry; (entry = readdir(directory));) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0) continue;
        const char* number = strrchr(entry->d_name, '-');
        if (strtol(number + 1, NULL, 10) <= highest) continue;
        highest = strtol(number + 1, NULL, 10);
        snprintf(best, sizeof best, "%s", entry->d_name);
    }
    closedir(directory);
    if (highest < 0) return false;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s/control", root, best);
    control_fd = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "%s/%s/rings", root, best);
    rings_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (control_fd >= 0 && rings_fd >= 0) return true;
    if (control_fd >= 0) close(control_fd);
    if (rings_fd >= 0) close(rings_fd);
    control_fd = rings_fd = -1;
    return false;
}

static void add_ring(const unsigned char* ring, struct bench_observation* out) {
    const uint32_t state = u32_at(ring, 4);
    if (u32_at(ring, 0) != kRingMagic || (state != kRingLive && state != kRingRetired)) return;
    const uint64_t base = u64_at(ring, 56), committed = u64_at(ring, 64), oldest = u64_at(ring, 72),
                   consumed = u64_at(ring, 128);
    uint64_t from = base > oldest ? base : oldest;
    if (consumed > from) from = consumed;
    out->written_bytes += committed;
    if (committed > from) out->pending_bytes += committed - from;
    out->lazy_bytes += u32_at(ring, 16) / 4;
    out->stalls += u64_at(ring, 88);
    out->stall_ns += u64_at(ring, 96);
    for (int cause = 0; cause < kCauses; ++cause) out->lost += u64_at(ring, 192 + 8 * (size_t)cause);
}

static void add_process(pid_t pid, struct bench_observation* out) {
    clockid_t clock;
    if (pid <= 1 || clock_getcpuclockid(pid, &clock) != 0) return;
    out->helper_cpu_ns += clock_ns(clock);
    /* Proportional: supervisor and collector are one program, whose pages they share. */
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", (long)pid);
    FILE* maps = fopen(path, "re");
    if (!maps) return;
    unsigned long kib;
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "Pss: %lu kB", &kib) == 1) out->helper_rss_bytes += (uint64_t)kib * 1024;
    fclose(maps);
}

int bench_observe_session(struct bench_observation* out) {
    unsigned char header[kHeaderBytes];
    if (!open_session() || pread(control_fd, header, sizeof header, 0) != sizeof header) return -1;
    const uint32_t slab_bytes = u32_at(header, kSlabBytesAt);
    uint32_t slabs = u32_at(header, kSlabsNextAt);
    if (slabs > u32_at(header, kSlabCountAt)) slabs = u32_at(header, kSlabCountAt);
    for (int cause = 0; cause < kCauses; ++cause)
        out->lost += u64_at(header, kSessionLossesAt + 8 * (size_t)cause);
    for (uint32_t slab = 0; slab < slabs; ++slab) {
        unsigned char entry[16], ring[kRingBytes];
        if (pread(control_fd, entry, sizeof entry, (off_t)(u64_at(header, kSlabsAt) + 16 * (uint64_t)slab)) !=
            sizeof entry)
            return -1;
        const uint32_t shift = u32_at(entry, 0);
        if (shift < 8 || shift > 31) continue;
        uint32_t slices = u32_at(entry, 4);
        if (slices > slab_bytes >> shift) slices = slab_bytes >> shift;
        for (uint32_t slice = 0; slice < slices; ++slice) {
            const off_t at = (off_t)((uint64_t)slab * slab_bytes + ((uint64_t)slice << shift));
            if (pread(rings_fd, ring, sizeof ring, at) == sizeof ring) add_ring(ring, out);
        }
    }
    const pid_t collector = (pid_t)u32_at(header, kCollectorPidAt);
    add_process(collector, out);
    if (getppid() != collector) add_process(getppid(), out);
    return 0;
}
