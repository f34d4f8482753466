/* A debugger: runs a program, and prints its debug output as UTF-8, one text a line. */
#include <stdio.h>
#include <windows.h>

static void print(HANDLE process, const OUTPUT_DEBUG_STRING_INFO* about) {
    static char bytes[1 << 17];
    static WCHAR wide[1 << 16];
    static char out[1 << 18];
    SIZE_T got = 0;
    const SIZE_T size = (SIZE_T)about->nDebugStringLength * (about->fUnicode ? 2 : 1);
    if (size > sizeof bytes || !ReadProcessMemory(process, about->lpDebugStringData, bytes, size, &got))
        return;
    int units = (int)about->nDebugStringLength;
    const WCHAR* text = (const WCHAR*)bytes;
    if (!about->fUnicode) {
        units = MultiByteToWideChar(CP_ACP, 0, bytes, units, wide, (int)(sizeof wide / 2));
        text = wide;
    }
    while (units > 0 && text[units - 1] == 0) --units;
    const int len = WideCharToMultiByte(CP_UTF8, 0, text, units, out, (int)sizeof out, NULL, NULL);
    printf("%.*s\n", len, out);
}

int main(int count, char** words) {
    if (count < 3) return 2;
    char line[2048];
    snprintf(line, sizeof line, "\"%s\" %s", words[1], words[2]);
    STARTUPINFOA start = {.cb = sizeof start};
    PROCESS_INFORMATION child;
    if (!CreateProcessA(words[1], line, NULL, NULL, FALSE, DEBUG_ONLY_THIS_PROCESS, NULL, NULL, &start,
                        &child))
        return 3;
    // It tells wide texts as such.
    typedef BOOL(WINAPI * Wait)(DEBUG_EVENT*, DWORD);
    const HMODULE base = GetModuleHandleA("kernelbase.dll");
    Wait wait = base == NULL ? NULL : (Wait)(void*)GetProcAddress(base, "WaitForDebugEventEx");
    if (wait == NULL) wait = WaitForDebugEvent;
    for (;;) {
        DEBUG_EVENT event;
        if (!wait(&event, INFINITE)) return 4;
        DWORD how = DBG_CONTINUE;
        if (event.dwDebugEventCode == OUTPUT_DEBUG_STRING_EVENT) {
            print(child.hProcess, &event.u.DebugString);
        } else if (event.dwDebugEventCode == EXCEPTION_DEBUG_EVENT &&
                   event.u.Exception.ExceptionRecord.ExceptionCode != EXCEPTION_BREAKPOINT) {
            how = DBG_EXCEPTION_NOT_HANDLED;
        }
        const BOOL is_end = event.dwDebugEventCode == EXIT_PROCESS_DEBUG_EVENT;
        if (is_end) printf("exit %lu\n", event.u.ExitProcess.dwExitCode);
        ContinueDebugEvent(event.dwProcessId, event.dwThreadId, how);
        if (is_end) return 0;
    }
}
