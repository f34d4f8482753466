// Holds a lock as the owner of a session does: `owner FILE`. Says so, and waits to be killed.
#include <stdio.h>
#include <windows.h>

int main(int count, char** words) {
    if (count != 2) return 2;
    const DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    const HANDLE file = CreateFileA(words[1], GENERIC_READ, share, NULL, OPEN_EXISTING, 0, NULL);
    OVERLAPPED at = {0};
    if (file == INVALID_HANDLE_VALUE || !LockFileEx(file, 0, 0, 1, 0, &at)) return 1;
    puts("holds");
    fflush(stdout);
    for (;;) Sleep(1000);
}
