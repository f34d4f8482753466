// A limit on the size of files, then the program as it is.
#include <sys/resource.h>
#include <unistd.h>

int main() {
    const rlimit limit{64 << 10, 64 << 10};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    char path[4096] = {};
    const auto len = readlink("/proc/self/exe", path, sizeof path - 20);
    if (len <= 0) return 1;
    long slash = len;
    while (path[slash] != '/') --slash;
    const char name[] = "life";
    for (unsigned i = 0; i < sizeof name; ++i) path[slash + 1 + i] = name[i];
    execl(path, "life", "silent", nullptr);
    return 1;
}
