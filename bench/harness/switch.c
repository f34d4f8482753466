/* Another process switches a tracepoint of this one on and off: how long until it is so here.
 *
 *   BENCH_CONTROL=PATH      the program that is called as `PATH ctl PID DIRECTIVES`
 *   BENCH_CONTROL_DIR=PATH  its SILVERPOINT_DIR: it looks for the session as a stranger does, not in the run
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"

/* The runner's filter is `debug`. */
static const char* const kDirectives[] = {"debug", "debug,bench=trace"};
static const uint64_t kGiveUpNs = 60000000000u;

struct control {
    const char* program;
    char pid[24];
    char directory[4200]; /* SILVERPOINT_DIR=… */
};

/* Where nobody can be called, a text that says what is missing; else NULL. */
static const char* control_open(struct control* control) {
    const char* const directory = getenv("BENCH_CONTROL_DIR");
    control->program = getenv("BENCH_CONTROL");
    if (!control->program || !directory) return "BENCH_CONTROL and BENCH_CONTROL_DIR must be set";
    snprintf(control->pid, sizeof control->pid, "%ld", (long)getpid());
    const int length =
        snprintf(control->directory, sizeof control->directory, "SILVERPOINT_DIR=%s", directory);
    return length < (int)sizeof control->directory ? NULL : "BENCH_CONTROL_DIR is too long";
}

/* Starts it; -1 with a word on standard error when it cannot be started. Standard output is this driver's. */
static pid_t control_start(struct control* control, bool on) {
    char* const arguments[] = {(char*)control->program, (char*)"ctl", control->pid, (char*)kDirectives[on],
                               NULL};
    char* const environment[] = {control->directory, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = -1;
    const int error = posix_spawn(&child, control->program, &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    if (error == 0) return child;
    fprintf(stderr, "bench: %s: %s\n", control->program, strerror(error));
    return -1;
}

/* One switching. Times are from before the other process is made: until `is_on` says so here, and until that
 * process has ended. False, with a word on standard error, when it did not come about. */
static bool switch_once(struct run* run, struct control* control, bool on, uint64_t* seen_ns,
                        uint64_t* ended_ns) {
    const struct bench_facility* const facility = run->facility;
    const uint64_t from_ns = monotonic_ns();
    const pid_t child = control_start(control, on);
    if (child < 0) return false;
    uint64_t now_ns = from_ns;
    while ((facility->is_on() != 0) != on && now_ns - from_ns < kGiveUpNs) now_ns = monotonic_ns();
    *seen_ns = monotonic_ns() - from_ns;
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "bench: ctl ended with status %d\n", status);
        return false;
    }
    *ended_ns = monotonic_ns() - from_ns;
    /* By its own word all places are switched now: the tracepoint proves it, here and in the trace file. */
    const bool recorded = facility->switched(run->next_id) != 0;
    if (recorded) run_claim(run, 1);
    if (recorded == on && now_ns - from_ns < kGiveUpNs) return true;
    fprintf(stderr, "bench: ctl has ended, and the tracepoint is not %s\n", on ? "on" : "off");
    return false;
}

static void times_json(const char* name, const uint64_t* ns, uint64_t count) {
    json_array_begin(name);
    for (uint64_t i = 0; i < count; ++i) json_array_item((double)ns[i]);
    json_array_end();
}

/* `switchings` of them, on and off in turn, behind `records` calls of the case, after which so many of its
 * places are known. */
int mode_switch(struct run* run) {
    const uint64_t times = option(&run->options, "switchings", 50),
                   records = option(&run->options, "records", 1);
    json_begin(run, "switch");
    if (!run->facility->is_on || !run->facility->switched) {
        json_count("unsupported", 1);
        clock_settle(run);
        json_end(run);
        return 0;
    }
    struct control control;
    const char* const missing = control_open(&control);
    if (missing) {
        fprintf(stderr, "bench: %s\n", missing);
        return 1;
    }
    uint64_t *const seen = calloc(times + 1, sizeof *seen), *const ended = calloc(times + 1, sizeof *ended);
    if (!seen || !ended) return 1;
    run_burst(run, records);
    run_drain(run, NULL, NULL);
    if (run->facility->is_on() || run->facility->switched(run->next_id)) {
        fprintf(stderr, "bench: the tracepoint is on before anybody has switched it\n");
        return 1;
    }
    for (uint64_t i = 0; i < times; ++i) {
        usleep(2000 + run_random(run) % 8000); /* not in step with anybody's timer */
        if (!switch_once(run, &control, i % 2 == 0, &seen[i], &ended[i])) return 1;
    }
    clock_settle(run);
    json_count("switchings", times);
    json_count("records", records);
    times_json("seen", seen, times);
    times_json("ended", ended, times);
    json_end(run);
    free(seen);
    free(ended);
    return 0;
}
