// What debug output asks of Windows where there is no monitor: counts its calls, and sets its clock.
#include <cstdio>
#include <silverpoint/debug_output.hpp>

namespace {

std::uint64_t now = 5000;
int looks = 0, others = 0;

std::uint64_t __stdcall tick_count() { return now; }
void* __stdcall open_mapping(unsigned long, int, const wchar_t*) {
    ++looks;
    return nullptr;
}
void* __stdcall open_event(unsigned long, int, const wchar_t*) { return ++others, nullptr; }
void* __stdcall create_mutex(struct _SECURITY_ATTRIBUTES*, const wchar_t*, unsigned long, unsigned long) {
    return ++others, nullptr;
}
void __stdcall output(const char*) { ++others; }
void __stdcall output_wide(const wchar_t*) { ++others; }

}  // namespace

// In the place of what the linker makes for an import.
extern "C" {
extern const auto __imp_GetTickCount64 = &tick_count;
extern const auto __imp_OpenFileMappingW = &open_mapping;
extern const auto __imp_OpenEventW = &open_event;
extern const auto __imp_CreateMutexExW = &create_mutex;
extern const auto __imp_OutputDebugStringA = &output;
extern const auto __imp_OutputDebugStringW = &output_wide;
}

int main() {
    // The first look was when the program was loaded.
    const int before = looks;
    for (int i = 0; i < 10'000; ++i) silverpoint::debug_output("a text\n");
    const int within_a_second = looks - before;
    int later = 0;
    for (int second = 0; second < 5; ++second) {
        now += 1000;
        const int known = looks;
        for (int i = 0; i < 1000; ++i) silverpoint::debug_output(L"wide\n");
        later += looks - known == 1;
    }
    std::printf("at load %d, within a second %d, once a second %d, others %d\n", before, within_a_second,
                later, others);
    return 0;
}
