// The functions of Windows that the frontend calls. They are declared here, as Microsoft's headers declare
// them: <windows.h> takes long to compile, and defines hundreds of macros in the program. A program may
// include both, in any order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../detail/config.hpp"

struct _BY_HANDLE_FILE_INFORMATION;
struct _EXCEPTION_POINTERS;
struct _FILETIME;
struct _MEMORYSTATUSEX;
struct _MEMORY_BASIC_INFORMATION;
struct _OVERLAPPED;
struct _SECURITY_ATTRIBUTES;
struct _WIN32_FIND_DATAW;
struct HINSTANCE__;
union _LARGE_INTEGER;
union _ULARGE_INTEGER;

#define SP_DETAIL_IMPORT extern "C" __declspec(dllimport)

// Errors, clocks and texts.
SP_DETAIL_IMPORT unsigned long __stdcall GetLastError();
SP_DETAIL_IMPORT void __stdcall SetLastError(unsigned long);
SP_DETAIL_IMPORT int __stdcall QueryPerformanceCounter(union _LARGE_INTEGER*);
SP_DETAIL_IMPORT int __stdcall QueryPerformanceFrequency(union _LARGE_INTEGER*);
SP_DETAIL_IMPORT void __stdcall GetSystemTimePreciseAsFileTime(struct _FILETIME*);
SP_DETAIL_IMPORT std::uint64_t __stdcall GetTickCount64();
SP_DETAIL_IMPORT void __stdcall Sleep(unsigned long);
SP_DETAIL_IMPORT int __stdcall MultiByteToWideChar(unsigned, unsigned long, const char*, int, wchar_t*, int);
SP_DETAIL_IMPORT int __stdcall WideCharToMultiByte(unsigned, unsigned long, const wchar_t*, int, char*, int,
                                                   const char*, int*);

// The process and its threads.
SP_DETAIL_IMPORT void* __stdcall GetCurrentProcess();
SP_DETAIL_IMPORT unsigned long __stdcall GetCurrentProcessId();
SP_DETAIL_IMPORT int __stdcall GetProcessTimes(void*, struct _FILETIME*, struct _FILETIME*, struct _FILETIME*,
                                               struct _FILETIME*);
SP_DETAIL_IMPORT void* __stdcall GetCurrentThread();
SP_DETAIL_IMPORT unsigned long __stdcall GetCurrentThreadId();
SP_DETAIL_IMPORT void* __stdcall OpenThread(unsigned long, int, unsigned long);
SP_DETAIL_IMPORT unsigned long __stdcall WaitForSingleObject(void*, unsigned long);
SP_DETAIL_IMPORT void* __stdcall CreateThread(struct _SECURITY_ATTRIBUTES*, std::size_t,
                                              unsigned long(__stdcall*)(void*), void*, unsigned long,
                                              unsigned long*);
SP_DETAIL_IMPORT wchar_t* __stdcall GetCommandLineW();
SP_DETAIL_IMPORT unsigned long __stdcall GetCurrentDirectoryW(unsigned long, wchar_t*);
SP_DETAIL_IMPORT unsigned long __stdcall GetEnvironmentVariableW(const wchar_t*, wchar_t*, unsigned long);
SP_DETAIL_IMPORT void* __stdcall GetStdHandle(unsigned long);
SP_DETAIL_IMPORT unsigned long __stdcall GetModuleFileNameW(struct HINSTANCE__*, wchar_t*, unsigned long);
SP_DETAIL_IMPORT struct HINSTANCE__* __stdcall GetModuleHandleW(const wchar_t*);
SP_DETAIL_IMPORT int __stdcall GetModuleHandleExW(unsigned long, const wchar_t*, struct HINSTANCE__**);
SP_DETAIL_IMPORT struct HINSTANCE__* __stdcall LoadLibraryW(const wchar_t*);
SP_DETAIL_IMPORT std::intptr_t(__stdcall* __stdcall GetProcAddress(struct HINSTANCE__*, const char*))();

// What ends the process.
SP_DETAIL_IMPORT int __stdcall TerminateProcess(void*, unsigned);
SP_DETAIL_IMPORT unsigned __stdcall SetErrorMode(unsigned);
SP_DETAIL_IMPORT int __stdcall SetThreadStackGuarantee(unsigned long*);
SP_DETAIL_IMPORT long(__stdcall* __stdcall SetUnhandledExceptionFilter(
    long(__stdcall*)(struct _EXCEPTION_POINTERS*)))(struct _EXCEPTION_POINTERS*);

// Debuggers and debug monitors.
SP_DETAIL_IMPORT int __stdcall IsDebuggerPresent();
SP_DETAIL_IMPORT void __stdcall OutputDebugStringA(const char*);
SP_DETAIL_IMPORT void __stdcall OutputDebugStringW(const wchar_t*);
SP_DETAIL_IMPORT void* __stdcall OpenFileMappingW(unsigned long, int, const wchar_t*);
SP_DETAIL_IMPORT void* __stdcall OpenEventW(unsigned long, int, const wchar_t*);
SP_DETAIL_IMPORT int __stdcall SetEvent(void*);
SP_DETAIL_IMPORT void* __stdcall CreateMutexExW(struct _SECURITY_ATTRIBUTES*, const wchar_t*, unsigned long,
                                                unsigned long);
SP_DETAIL_IMPORT int __stdcall ReleaseMutex(void*);

// Memory.
SP_DETAIL_IMPORT void* __stdcall GetProcessHeap();
SP_DETAIL_IMPORT void* __stdcall HeapAlloc(void*, unsigned long, std::size_t);
SP_DETAIL_IMPORT int __stdcall HeapFree(void*, unsigned long, void*);
SP_DETAIL_IMPORT void* __stdcall LocalFree(void*);
SP_DETAIL_IMPORT void* __stdcall VirtualAlloc(void*, std::size_t, unsigned long, unsigned long);
SP_DETAIL_IMPORT int __stdcall VirtualProtect(void*, std::size_t, unsigned long, unsigned long*);
SP_DETAIL_IMPORT int __stdcall VirtualFree(void*, std::size_t, unsigned long);
SP_DETAIL_IMPORT std::size_t __stdcall VirtualQuery(const void*, struct _MEMORY_BASIC_INFORMATION*,
                                                    std::size_t);
SP_DETAIL_IMPORT int __stdcall GlobalMemoryStatusEx(struct _MEMORYSTATUSEX*);

// Files.
SP_DETAIL_IMPORT void* __stdcall CreateFileW(const wchar_t*, unsigned long, unsigned long,
                                             struct _SECURITY_ATTRIBUTES*, unsigned long, unsigned long,
                                             void*);
SP_DETAIL_IMPORT int __stdcall CloseHandle(void*);
SP_DETAIL_IMPORT int __stdcall DuplicateHandle(void*, void*, void*, void**, unsigned long, int,
                                               unsigned long);
SP_DETAIL_IMPORT int __stdcall ReadFile(void*, void*, unsigned long, unsigned long*, struct _OVERLAPPED*);
SP_DETAIL_IMPORT int __stdcall WriteFile(void*, const void*, unsigned long, unsigned long*,
                                         struct _OVERLAPPED*);
SP_DETAIL_IMPORT unsigned long __stdcall SetFilePointer(void*, long, long*, unsigned long);
SP_DETAIL_IMPORT int __stdcall SetEndOfFile(void*);
SP_DETAIL_IMPORT int __stdcall DeviceIoControl(void*, unsigned long, void*, unsigned long, void*,
                                               unsigned long, unsigned long*, struct _OVERLAPPED*);
SP_DETAIL_IMPORT int __stdcall GetFileInformationByHandle(void*, struct _BY_HANDLE_FILE_INFORMATION*);
SP_DETAIL_IMPORT int __stdcall LockFileEx(void*, unsigned long, unsigned long, unsigned long, unsigned long,
                                          struct _OVERLAPPED*);
SP_DETAIL_IMPORT int __stdcall UnlockFileEx(void*, unsigned long, unsigned long, unsigned long,
                                            struct _OVERLAPPED*);
SP_DETAIL_IMPORT void* __stdcall CreateFileMappingW(void*, struct _SECURITY_ATTRIBUTES*, unsigned long,
                                                    unsigned long, unsigned long, const wchar_t*);
SP_DETAIL_IMPORT void* __stdcall MapViewOfFile(void*, unsigned long, unsigned long, unsigned long,
                                               std::size_t);
SP_DETAIL_IMPORT int __stdcall UnmapViewOfFile(const void*);
SP_DETAIL_IMPORT int __stdcall GetDiskFreeSpaceExW(const wchar_t*, union _ULARGE_INTEGER*,
                                                   union _ULARGE_INTEGER*, union _ULARGE_INTEGER*);
SP_DETAIL_IMPORT int __stdcall CreateDirectoryW(const wchar_t*, struct _SECURITY_ATTRIBUTES*);
SP_DETAIL_IMPORT int __stdcall RemoveDirectoryW(const wchar_t*);
SP_DETAIL_IMPORT int __stdcall DeleteFileW(const wchar_t*);
SP_DETAIL_IMPORT int __stdcall MoveFileExW(const wchar_t*, const wchar_t*, unsigned long);
SP_DETAIL_IMPORT unsigned long __stdcall GetFileAttributesW(const wchar_t*);
SP_DETAIL_IMPORT unsigned long __stdcall GetCompressedFileSizeW(const wchar_t*, unsigned long*);
SP_DETAIL_IMPORT void* __stdcall FindFirstFileW(const wchar_t*, struct _WIN32_FIND_DATAW*);
SP_DETAIL_IMPORT int __stdcall FindNextFileW(void*, struct _WIN32_FIND_DATAW*);
SP_DETAIL_IMPORT int __stdcall FindClose(void*);

#undef SP_DETAIL_IMPORT

SP_DETAIL_BEGIN

// Texts of ours are UTF-8, those of Windows UTF-16. Each returns the units written, without the zero that it
// adds; 0 if the text is empty, invalid or too long.
inline std::size_t to_wide(const char* text, wchar_t* to, std::size_t size) {
    constexpr unsigned kUtf8 = 65001, kRefuseInvalid = 8;
    const int len = MultiByteToWideChar(kUtf8, kRefuseInvalid, text, -1, to, static_cast<int>(size));
    return len > 0 ? static_cast<std::size_t>(len) - 1 : 0;
}
inline std::size_t to_utf8(const wchar_t* text, char* to, std::size_t size) {
    const int len = WideCharToMultiByte(65001, 0, text, -1, to, static_cast<int>(size), nullptr, nullptr);
    return len > 0 ? static_cast<std::size_t>(len) - 1 : 0;
}

// A function that is found while the program runs: an older Windows lacks it, or its header's type of it
// cannot be declared here. Null if there is none.
template <class Function>
Function system_function(const wchar_t* library, const char* name) {
    struct HINSTANCE__* const loaded = GetModuleHandleW(library);
    return loaded == nullptr
               ? nullptr
               : reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(loaded, name)));
}

// Windows counts time in 100 ns since 1601.
inline std::uint64_t ns_since_1970(std::uint64_t time) {
    constexpr std::uint64_t k1970 = 116'444'736'000'000'000u;
    return time > k1970 ? (time - k1970) * 100 : 0;
}

SP_DETAIL_END
