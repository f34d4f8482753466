// Sends to a debug monitor, well and badly.
//
//     debug_sender send NUMBER COUNT   so many texts by OutputDebugString
//     debug_sender die                 takes the buffer, and ends a second and a half later without a word
//     debug_sender endless             a text without an end, of a process that does not exist
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static void take_buffer(HANDLE mutex) {
    const HANDLE ready = OpenEventA(SYNCHRONIZE, FALSE, "DBWIN_BUFFER_READY");
    WaitForSingleObject(mutex, INFINITE);
    WaitForSingleObject(ready, INFINITE);
}

int main(int count, char** words) {
    if (count == 4 && strcmp(words[1], "send") == 0) {
        for (int i = 0; i < atoi(words[3]); ++i) {
            char text[64];
            snprintf(text, sizeof text, "%s: %d\n", words[2], i);
            OutputDebugStringA(text);
        }
        return 0;
    }
    if (count != 2) return 2;
    const HANDLE mutex = CreateMutexA(NULL, FALSE, "DBWinMutex");
    take_buffer(mutex);
    if (strcmp(words[1], "die") == 0) {
        printf("holds\n");
        fflush(stdout);
        Sleep(1500);
        TerminateProcess(GetCurrentProcess(), 3);
    }
    const HANDLE mapping = OpenFileMappingA(FILE_MAP_WRITE, FALSE, "DBWIN_BUFFER");
    char* const buffer = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 0);
    if (buffer == NULL) return 1;
    memset(buffer, 0xFF, 4);
    memset(buffer + 4, 'n', 4092);
    SetEvent(OpenEventA(EVENT_MODIFY_STATE, FALSE, "DBWIN_DATA_READY"));
    ReleaseMutex(mutex);
    return 0;
}
