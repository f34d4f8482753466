/* Windows's functions for providers, as far as silverpoint_etw.dll calls them. They write their arguments
 * into the file ETW_FAKE_LOG, a line for each call. The program says what sessions want. */
#define _EVNT_SOURCE_
#include <windows.h>
/* After it. */
#include <evntprov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64

/* A session may want a provider that is not registered. */
typedef struct {
    GUID id;
    UCHAR level;
    ULONGLONG any, all;
} Wanted;
typedef struct {
    GUID id;
    PENABLECALLBACK callback;
    void* context;
} Registered;

/* The first is held while a callback runs, so that none runs when EventUnregister returns. */
static CRITICAL_SECTION callbacks, lock;
static Wanted wanted[MOST];
static Registered registered[MOST];
static unsigned wanted_count;
static ULONG refusal;
static volatile LONG refusals;
static volatile LONG writes;
static void (*volatile hook)(void);
/* A line of the log; it takes no lock of the C library, which an ending process may have left. */
static char line[1 << 20];
static size_t size;
static HANDLE out;
/* Providers that no call of fake_control has named are wanted. */
static int are_all_wanted;

BOOL WINAPI DllMain(HINSTANCE self, DWORD why, LPVOID more) {
    (void)self, (void)more;
    if (why != DLL_PROCESS_ATTACH) return TRUE;
    InitializeCriticalSection(&callbacks);
    InitializeCriticalSection(&lock);
    char path[MAX_PATH];
    if (GetEnvironmentVariableA("ETW_FAKE_LOG", path, sizeof path) == 0) return FALSE;
    out = CreateFileA(path, FILE_APPEND_DATA, FILE_SHARE_READ, NULL, OPEN_ALWAYS, 0, NULL);
    return out != INVALID_HANDLE_VALUE;
}

static void put(const char* text) {
    const size_t length = strlen(text);
    if (size + length > sizeof line) abort();
    memcpy(line + size, text, length);
    size += length;
}
static void put_number(ULONGLONG number) {
    char text[32];
    snprintf(text, sizeof text, "%llu", number);
    put(text);
}
static void put_hex(const void* bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        char text[4];
        snprintf(text, sizeof text, "%02x", ((const unsigned char*)bytes)[i]);
        put(text);
    }
}
static void begin_line(const char* what, ULONGLONG handle) {
    EnterCriticalSection(&lock);
    size = 0;
    put(what);
    put(" ");
    put_number(handle);
    put(" ");
}
static void end_line(void) {
    DWORD written;
    put("\n");
    if (!WriteFile(out, line, (DWORD)size, &written, NULL)) abort();
    LeaveCriticalSection(&lock);
}

static Wanted* find_wanted(const GUID* id) {
    for (unsigned i = 0; i < wanted_count; ++i)
        if (memcmp(&wanted[i].id, id, sizeof *id) == 0) return &wanted[i];
    return NULL;
}

ULONG EVNTAPI EventRegister(LPCGUID id, PENABLECALLBACK callback, PVOID context, PREGHANDLE handle) {
    if (refusal != 0) {
        InterlockedIncrement(&refusals);
        return refusal;
    }
    EnterCriticalSection(&callbacks);
    unsigned free = 0;
    while (free < MOST && registered[free].callback != NULL) ++free;
    if (free == MOST) abort();
    registered[free] = (Registered){*id, callback, context};
    begin_line("register", free + 1);
    put_hex(id, sizeof *id);
    end_line();
    /* Before the caller knows its handle. */
    const Wanted* const found = find_wanted(id);
    if (found != NULL)
        callback(id, 1, found->level, found->any, found->all, NULL, context);
    else if (are_all_wanted)
        callback(id, 1, 5, ~0ull, 0, NULL, context);
    *handle = free + 1;
    LeaveCriticalSection(&callbacks);
    return 0;
}

ULONG EVNTAPI EventUnregister(REGHANDLE handle) {
    EnterCriticalSection(&callbacks);
    if (handle == 0 || handle > MOST || registered[handle - 1].callback == NULL) abort();
    registered[handle - 1].callback = NULL;
    begin_line("unregister", handle);
    end_line();
    LeaveCriticalSection(&callbacks);
    return 0;
}

ULONG EVNTAPI EventSetInformation(REGHANDLE handle, EVENT_INFO_CLASS what, PVOID bytes, ULONG count) {
    begin_line("information", handle);
    put_number((ULONGLONG)what);
    put(" ");
    put_hex(bytes, count);
    end_line();
    return 0;
}

ULONG EVNTAPI EventWriteTransfer(REGHANDLE handle, PCEVENT_DESCRIPTOR of, LPCGUID activity, LPCGUID parent,
                                 ULONG count, PEVENT_DATA_DESCRIPTOR parts) {
    if (handle == 0 || handle > MOST || registered[handle - 1].callback == NULL) abort();
    /* Within the event that calls. */
    void (*const within)(void) = (void (*)(void))InterlockedExchangePointer((void* volatile*)&hook, NULL);
    if (within != NULL) within();
    begin_line("write", handle);
    put_number(GetCurrentThreadId());
    put(" ");
    put_hex(of, sizeof *of);
    for (int i = 0; i < 2; ++i) {
        const GUID* const id = i == 0 ? activity : parent;
        put(id == NULL ? " -" : " ");
        if (id != NULL) put_hex(id, sizeof *id);
    }
    for (ULONG i = 0; i < count; ++i) {
        put(" ");
        put_number(parts[i].Reserved);
        put(":");
        put_hex((const void*)(ULONG_PTR)parts[i].Ptr, parts[i].Size);
    }
    end_line();
    InterlockedIncrement(&writes);
    return 0;
}

/* What all sessions together want of a provider. `control` as in EnableTraceEx2. */
void fake_control(const GUID* id, ULONG control, UCHAR level, ULONGLONG any, ULONGLONG all) {
    EnterCriticalSection(&callbacks);
    Wanted* found = find_wanted(id);
    if (control == 1) {
        if (found == NULL) found = &wanted[wanted_count++];
        *found = (Wanted){*id, level, any, all};
    } else if (control == 0 && found != NULL) {
        *found = wanted[--wanted_count];
    }
    for (unsigned i = 0; i < MOST; ++i)
        if (registered[i].callback != NULL && memcmp(&registered[i].id, id, sizeof *id) == 0)
            registered[i].callback(id, control, level, any, all, NULL, registered[i].context);
    LeaveCriticalSection(&callbacks);
}
/* From now on each provider that is registered is wanted. */
void fake_want_all(void) { are_all_wanted = 1; }
/* Events so far. */
LONG fake_writes(void) { return writes; }
int fake_is_registered(const GUID* id) {
    int is_there = 0;
    EnterCriticalSection(&callbacks);
    for (unsigned i = 0; i < MOST; ++i)
        is_there |= registered[i].callback != NULL && memcmp(&registered[i].id, id, sizeof *id) == 0;
    LeaveCriticalSection(&callbacks);
    return is_there;
}
/* Called within the next event, once. */
void fake_hook(void (*call)(void)) { InterlockedExchangePointer((void* volatile*)&hook, (void*)call); }
/* From now on no provider is registered. */
void fake_refuse(ULONG error) { refusal = error; }
LONG fake_refusals(void) { return refusals; }
/* A line between those of the calls. */
void fake_mark(const char* text) {
    begin_line("mark", 0);
    put(text);
    end_line();
}
