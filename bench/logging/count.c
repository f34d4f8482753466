/* What has arrived in log files: counts lines, and adds up the numbers in them.
 *
 * count MARKER FILE...: {"numbered": N, "sum": S, "bare": B}. A line is numbered when it has the marker with
 * a digit behind it. The first such number is added to the sum, modulo 2^64. A line is bare when it has the
 * marker, but nowhere with a digit. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct found {
    uint64_t numbered, sum, bare;
};

static void look(const char* line, size_t length, const char* marker, size_t marker_length,
                 struct found* found) {
    const char* const end = line + length;
    int bare = 0;
    for (const char* at = line; (at = memmem(at, (size_t)(end - at), marker, marker_length));) {
        at += marker_length;
        if (at == end || *at < '0' || *at > '9') {
            bare = 1;
            continue;
        }
        uint64_t number = 0;
        for (; at < end && *at >= '0' && *at <= '9'; ++at) number = number * 10 + (uint64_t)(*at - '0');
        ++found->numbered;
        found->sum += number;
        return;
    }
    found->bare += (uint64_t)bare;
}

int main(int argc, char** argv) {
    if (argc < 2 || argv[1][0] == '\0') {
        fputs("count MARKER FILE...\n", stderr);
        return 2;
    }
    struct found found = {0, 0, 0};
    char* line = NULL;
    size_t room = 0;
    for (int i = 2; i < argc; ++i) {
        FILE* file = fopen(argv[i], "re");
        if (!file) {
            perror(argv[i]);
            return 1;
        }
        for (ssize_t length; (length = getline(&line, &room, file)) >= 0;)
            look(line, (size_t)length, argv[1], strlen(argv[1]), &found);
        if (ferror(file)) {
            perror(argv[i]);
            return 1;
        }
        fclose(file);
    }
    free(line);
    printf("{\"numbered\":%" PRIu64 ",\"sum\":%" PRIu64 ",\"bare\":%" PRIu64 "}\n", found.numbered, found.sum,
           found.bare);
    return 0;
}
