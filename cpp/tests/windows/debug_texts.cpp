// Debug output for a monitor or a debugger, by threads that each say their number:
//
//     debug_texts send NUMBER COUNT [FILE]   so many texts; "returned"; waits for the file; one text more
//     debug_texts until FILE NUMBER          texts until the file is there; says how many
//     debug_texts both FILE NUMBER           the same; every second one by OutputDebugString itself
//     debug_texts kinds                      one text of each kind, and one longer than a monitor's buffer
//     debug_texts four NUMBER COUNT          as `send`, by four threads at once
#include <windows.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <silverpoint/debug_output.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

void send(const char* who, int number) {
    silverpoint::debug_output(std::string(who) + ": " + std::to_string(number) + "\n");
}

bool is_there(const char* file) { return GetFileAttributesA(file) != INVALID_FILE_ATTRIBUTES; }

void say(const char* word) {
    std::puts(word);
    std::fflush(stdout);
}

// Says something when the program's other objects are gone.
struct Last {
    ~Last() { silverpoint::debug_output("last\n"); }
};

}  // namespace

int main(int count, char** words) {
    if (count < 2) return 2;
    const std::string what = words[1];
    if (what == "send" && count >= 4) {
        const int texts = std::atoi(words[3]);
        for (int i = 0; i < texts; ++i) send(words[2], i);
        say("returned");
        if (count == 4) return 0;
        while (!is_there(words[4])) Sleep(5);
        send(words[2], texts);
        return 0;
    }
    if ((what == "until" || what == "both") && count == 4) {
        int i = 0;
        for (; !is_there(words[2]); ++i) {
            if (what == "both" && i % 2 == 1)
                OutputDebugStringA((std::string(words[3]) + ": " + std::to_string(i) + "\n").c_str());
            else
                send(words[3], i);
            Sleep(2);
        }
        say(std::to_string(i).c_str());
        return 0;
    }
    if (what == "four" && count == 4) {
        std::vector<std::thread> threads;
        for (int thread = 0; thread < 4; ++thread)
            threads.emplace_back([&, who = std::string(words[2]) + std::to_string(thread)] {
                for (int i = 0; i < std::atoi(words[3]); ++i) send(who.c_str(), i);
            });
        for (std::thread& one : threads) one.join();
        return 0;
    }
    static const Last last;
    silverpoint::debug_output("narrow \u00e4\u20ac");
    silverpoint::debug_output(L"wide \u00e4\u20ac");
    silverpoint::debug_output(u8"eight \u00e4\u20ac");
    silverpoint::debug_output(u"sixteen \u00e4\u20ac");
    silverpoint::debug_output(U"thirty-two \u00e4\u20ac");
    silverpoint::debug_output("page \xe4\x80");
    silverpoint::debug_output(std::string_view("zero\0behind", 11));
    silverpoint::debug_output("");
    silverpoint::debug_output(nullptr);
    silverpoint::debug_output(U"above \U0001F600");
    silverpoint::debug_output(std::wstring(5000, L'w'));
    return 0;
}
