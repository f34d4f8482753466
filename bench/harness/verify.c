/* Counts what a trace file holds, independently of the library: written from spec/file.md and spec/wire.md
 * alone.
 *
 *   verify FILE...
 *
 * Walks the blocks of all files and prints one JSON line. For each site of category "bench" it has template,
 * signature and number of records. It adds up their first u64 argument (the id), and all 32-bit words of
 * their arguments. Over all, it has the blocks and the ring bytes that a stream repeats or misses. It sees
 * raw records only; of compact blocks it gives the headers' record counts.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    kBlockSites = 3,
    kBlockRecords = 5,
    kBlockGap = 12,
    kFirstSite = 16,
    kMostSites = 1 << 16,
    kMostStreams = 1 << 16,
    kMostSessions = 512, /* the memory of those that are not there is never touched */
};

/* What is known of one site, and what was counted. */
struct site {
    bool wanted;
    int id_at; /* offset of the id in the arguments when it is fixed, else -1 */
    uint64_t records, id_sum, word_sum;
    char* template_text;
    char* signature;
};

struct stream {
    uint32_t session, number;
    uint64_t stored_through;
};

static struct site* sites; /* of all sessions: by session * kMostSites + id */
static uint32_t highest_site[kMostSessions];
static struct stream streams[kMostStreams];
static size_t stream_count;
static uint64_t blocks, compact_records, raw_records, record_bytes, repeated, missing, gaps;

static void fail(const char* file, const char* what) {
    fprintf(stderr, "verify: %s: %s\n", file, what);
    exit(1);
}

static uint16_t u16_at(const unsigned char* p) {
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static uint32_t u32_at(const unsigned char* p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static uint64_t u64_at(const unsigned char* p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static char* text(const unsigned char* from, size_t n) {
    char* copy = malloc(n + 1);
    if (!copy) fail("memory", "none left");
    memcpy(copy, from, n);
    copy[n] = '\0';
    return copy;
}

/* Where the first u64 argument lies when only scalars of fixed size stand before it. */
static int id_offset(const char* signature) {
    int at = 0;
    for (; *signature; ++signature) {
        if (*signature == 'L') return at;
        switch (*signature) {
            case 'b':
            case 'a':
            case 'A':
            case 'c':
                at += 1;
                break;
            case 'h':
            case 'H':
            case 'w':
                at += 2;
                break;
            case 'i':
            case 'I':
            case 'f':
            case 'W':
                at += 4;
                break;
            case 'l':
            case 'd':
            case 'p':
            case 't':
            case 'T':
                at += 8;
                break;
            default:
                return -1;
        }
    }
    return -1;
}

static struct site* site_of(uint32_t session, uint32_t id) {
    if (session >= kMostSessions || id >= kMostSites) return NULL;
    return &sites[(size_t)session * kMostSites + id];
}

static void read_sites(const char* file, uint32_t session, const unsigned char* p, size_t n) {
    while (n >= 8 + 48) {
        const uint32_t id = u32_at(p), size = u32_at(p + 8);
        const unsigned char* d = p + 8;
        if (size < 48 || size % 8 != 0 || size > n - 8) fail(file, "a site description with a wrong size");
        const size_t category = u16_at(d + 28), names = u16_at(d + 34), file_len = u16_at(d + 30),
                     function = u16_at(d + 32), template_len = u32_at(d + 36), signature = u32_at(d + 40);
        if (category + names + file_len + function + template_len + signature > size - 48)
            fail(file, "site texts too long");
        struct site* site = site_of(session, id);
        if (!site) fail(file, "a site id beyond what verify can hold");
        const unsigned char* texts = d + 48;
        if (!site->signature) {
            if (id > highest_site[session]) highest_site[session] = id;
            site->wanted = category == 5 && memcmp(texts, "bench", 5) == 0;
            texts += category + file_len + function + names;
            site->template_text = text(texts, template_len);
            site->signature = text(texts + template_len, signature);
            site->id_at = id_offset(site->signature);
        }
        p += 8 + size;
        n -= 8 + size;
    }
}

static void read_raw(const char* file, uint32_t session, const unsigned char* p, size_t n) {
    while (n >= 8) {
        const size_t size = u32_at(p) & 0xFFFFFF;
        const uint32_t id = u32_at(p + 4);
        if (size < 8 || size % 8 != 0 || size > n) fail(file, "a record with a wrong size");
        if (id != 0) ++raw_records;
        if (id >= kFirstSite) {
            struct site* site = site_of(session, id);
            if (!site || !site->signature) fail(file, "a record of an undescribed site");
            ++site->records;
            if (site->id_at >= 0 && (size_t)site->id_at + 24 <= size)
                site->id_sum += u64_at(p + 16 + site->id_at);
            for (size_t at = 16; site->wanted && at < size; at += 4) site->word_sum += u32_at(p + at);
        }
        p += size;
        n -= size;
    }
    if (n != 0) fail(file, "records do not end with their block");
}

/* Ring bytes of one stream must come once and without a hole. */
static void check_continuity(uint32_t session, uint32_t number, uint64_t begin, uint64_t end) {
    for (size_t i = stream_count; i-- > 0;) {
        if (streams[i].session != session || streams[i].number != number) continue;
        if (begin < streams[i].stored_through) repeated += streams[i].stored_through - begin;
        if (begin > streams[i].stored_through) missing += begin - streams[i].stored_through;
        streams[i].stored_through = end;
        return;
    }
    if (stream_count == kMostStreams) fail("streams", "more than verify can hold");
    streams[stream_count++] = (struct stream){session, number, end};
}

static void read_file(const char* path, uint64_t* file_bytes) {
    static const unsigned char sync[8] = {0x9E, 0x53, 0x50, 0x42, 0x4C, 0x4B, 0x0D, 0x0A};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0) fail(path, "cannot be opened");
    const size_t size = (size_t)status.st_size;
    *file_bytes += size;
    const unsigned char* bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) fail(path, "cannot be mapped");
    close(fd);
    for (size_t at = 0; at < size;) {
        const unsigned char* block = bytes + at;
        if (size - at < 96 || memcmp(block, sync, sizeof sync) != 0)
            fail(path, "no block where one must begin");
        const size_t header = u16_at(block + 8), stored = u32_at(block + 12);
        if (header < 96 || header > size - at || stored > size - at - header)
            fail(path, "a block that does not end");
        const uint32_t session = u32_at(block + 24), number = u32_at(block + 28);
        const unsigned char* payload = block + header;
        ++blocks;
        if (block[10] == kBlockSites) read_sites(path, session, payload, stored);
        if (block[10] == kBlockGap) ++gaps;
        if (block[10] == kBlockRecords) {
            check_continuity(session, number, u64_at(block + 32), u64_at(block + 40));
            record_bytes += header + (stored + 7) / 8 * 8;
            if (block[11] == 0)
                read_raw(path, session, payload, stored);
            else
                compact_records += u32_at(block + 64);
        }
        at += header + (stored + 7) / 8 * 8;
    }
    munmap((void*)(uintptr_t)bytes, size);
}

static void print_text(const char* value) {
    putchar('"');
    for (; *value; ++value) {
        if (*value == '"' || *value == '\\') putchar('\\');
        if ((unsigned char)*value < 0x20)
            printf("\\u%04x", *value);
        else
            putchar(*value);
    }
    putchar('"');
}

int main(int argc, char** argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: verify FILE...\n");
        return 2;
    }
    sites = mmap(NULL, sizeof *sites * kMostSites * kMostSessions, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sites == MAP_FAILED) fail("memory", "none left");
    uint64_t file_bytes = 0, seen_sites = 0;
    for (int i = 1; i < argc; ++i) read_file(argv[i], &file_bytes);
    printf("{\"schema\":1,\"blocks\":%" PRIu64 ",\"file_bytes\":%" PRIu64 ",\"record_bytes\":%" PRIu64
           ",\"raw_records\":%" PRIu64 ",\"compact_records\":%" PRIu64 ",\"repeated_bytes\":%" PRIu64
           ",\"missing_bytes\":%" PRIu64 ",\"gaps\":%" PRIu64 ",\"streams\":%zu,\"sites\":[",
           blocks, file_bytes, record_bytes, raw_records, compact_records, repeated, missing, gaps,
           stream_count);
    for (uint32_t session = 0; session < kMostSessions; ++session) {
        for (uint32_t id = kFirstSite; id <= highest_site[session]; ++id) {
            const struct site* site = site_of(session, id);
            if (!site->wanted) continue;
            printf("%s{\"template\":", seen_sites++ ? "," : "");
            print_text(site->template_text);
            printf(",\"signature\":");
            print_text(site->signature);
            printf(",\"records\":%" PRIu64 ",\"id_sum\":", site->records);
            if (site->id_at >= 0)
                printf("%" PRIu64, site->id_sum);
            else
                printf("null");
            printf(",\"word_sum\":%" PRIu64 "}", site->word_sum);
        }
    }
    puts("]}");
    return 0;
}
