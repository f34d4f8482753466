/* One tracepoint behind a function, for a listener of .NET: text of a given length. */
#include <silverpoint/silverpoint.h>

SP_CATEGORY("dotnet");

__attribute__((visibility("default"))) void bench_tracepoint(const char* text, size_t size);

void bench_tracepoint(const char* text, size_t size) { SP_INFO("%s", SP_TEXT_N(text, size)); }
