/* logger_life.cpp in C, with the same modes, run by the same test. */
#include <dlfcn.h>
#include <fcntl.h>
#include <silverpoint/silverpoint.h>
#include <silverpoint/start.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void constructor(void) { SP_INFO("static constructor"); }
__attribute__((destructor)) static void destructor(void) { SP_INFO("static destructor"); }
__attribute__((destructor(200))) static void late_destructor(void) { SP_INFO("late destructor"); }

static void start(const char* log) {
    char config[4200], error[500] = "";
    snprintf(config, sizeof config, "record = 'debug'\n[[sink]]\nto = 'file'\npath = '%s'\n", log);
    if (sp_start_logger(config, error, sizeof error) != SILVERPOINT_DONE) {
        fprintf(stderr, "%s\n", error);
        abort();
    }
}

static void whole(const char* log) {
    SP_INFO("before start");
    SP_DEBUG("is not kept: below info");
    start(log);
    SP_DEBUG("first logger");
    silverpoint_stop(60000);
    SP_INFO("between");
    start(log);
    SP_DEBUG("second logger");
    silverpoint_stop(60000);
    SP_INFO("after stop");
}

static void to_background(const char* log) {
    start(log);
    SP_INFO("parent");
    const pid_t parent = getpid();
    if (fork() != 0) _exit(0);
    setsid();
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    while (getppid() == parent) usleep(1000);
    for (int i = 0; i < 20; ++i)
        if (open("/dev/null", O_RDONLY) < 0) abort();
    start(log);
    SP_INFO("child");
}

static void bare(const char* log) {
    for (int fd = 0; fd < 1024; ++fd) close(fd);
    for (int round = 0; round < 2; ++round) {
        start(log);
        if (round == 0) {
            SP_INFO("parent");
        } else {
            SP_INFO("child");
        }
        for (int i = 0; i < 100; ++i)
            for (int fd = 0; fd < 3; ++fd)
                if (write(fd, "stray\n", 6) != 6) abort();
        if (silverpoint_flush(60000) != SILVERPOINT_DONE || silverpoint_stop(60000) != SILVERPOINT_DONE)
            abort();
    }
}

static void plugin(const char* log) {
    char path[4200];
    start(log);
    const ssize_t len = readlink("/proc/self/exe", path, 4096);
    if (len < 0) abort();
    path[len] = 0;
    strcpy(strrchr(path, '/') + 1, "libplugin.so");
    for (int round = 0; round < 3; ++round) {
        void* const object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (object == NULL) abort();
        void (*run)(uint64_t);
        void* const symbol = dlsym(object, "plugin_run");
        memcpy(&run, &symbol, sizeof run);
        run(41);
        if (dlclose(object) != 0 || dlopen(path, RTLD_NOW | RTLD_NOLOAD) != NULL) abort();
        SP_INFO("unloaded");
    }
}

int main(int argc, char** argv) {
    const char* const mode = argc > 2 ? argv[1] : "";
    if (strcmp(mode, "whole") == 0) whole(argv[2]);
    if (strcmp(mode, "never") == 0) SP_INFO("this is not wanted");
    if (strcmp(mode, "daemon") == 0) to_background(argv[2]);
    if (strcmp(mode, "bare") == 0) bare(argv[2]);
    if (strcmp(mode, "plugin") == 0) plugin(argv[2]);
    return 0;
}
