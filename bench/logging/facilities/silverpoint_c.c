/* What silverpoint_c.hpp calls: the logger inside the process, as a program in C has it. */
#include <silverpoint/silverpoint.h>
#include <silverpoint/start.h>
#include <stdio.h>

enum { kPatienceMs = 300000 };

int bench_c_start(const char* file);
int bench_c_flush(void);
int bench_c_stop(void);
void bench_c_log(const char* title, unsigned count, const char* pointer, const char* string, double real);

int bench_c_start(const char* file) {
    char config[4096], error[512];
    snprintf(config, sizeof config, "record = 'info'\n[[sink]]\nto = 'file'\npath = '%s'\n", file);
    const int result = sp_start_logger(config, error, sizeof error);
    if (result != SILVERPOINT_DONE) fprintf(stderr, "silverpoint: %s\n", error);
    return result;
}
int bench_c_flush(void) { return silverpoint_flush(kPatienceMs); }
int bench_c_stop(void) { return silverpoint_stop(kPatienceMs); }

void bench_c_log(const char* title, unsigned count, const char* pointer, const char* string, double real) {
    SP_INFO("%s iteration #%u %s%s and a float: %.6g", title, count, pointer, string, real);
}
