// Loads a library, calls it and unloads it, three times; with a second argument it unloads it at once.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
    for (int i = 0; argc > 1 && i < 3; ++i) {
        void* library = dlopen(argv[1], RTLD_NOW);
        if (library == nullptr) {
            std::fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        if (argc == 2) reinterpret_cast<void (*)()>(dlsym(library, "work"))();
        dlclose(library);
    }
}
