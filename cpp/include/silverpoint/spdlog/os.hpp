// What programs use of spdlog::details: names of files and directories, times, numbers with zeros before
// them.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <thread>

#include "message.hpp"

namespace spdlog::details {

using std::make_unique;

inline string_view_t to_string_view(const memory_buf_t& text) noexcept { return text; }
#if SP_SPDLOG_HAS_FMT
template <std::size_t kRoom>
string_view_t to_string_view(const fmt::basic_memory_buffer<char, kRoom>& text) noexcept {
    return {text.data(), text.size()};
}
#endif

namespace os {

inline constexpr const char* default_eol = "\n";
inline constexpr char folder_seps_filename[] = "/";

inline std::tm localtime(std::time_t at) noexcept {
    std::tm time{};
    ::localtime_r(&at, &time);
    return time;
}
inline std::tm localtime() noexcept { return localtime(std::time(nullptr)); }
inline std::tm gmtime(std::time_t at) noexcept {
    std::tm time{};
    ::gmtime_r(&at, &time);
    return time;
}
inline std::tm gmtime() noexcept { return gmtime(std::time(nullptr)); }
inline log_clock::time_point now() noexcept { return log_clock::now(); }
inline void sleep_for_millis(unsigned int milliseconds) noexcept {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}
inline bool path_exists(const filename_t& path) noexcept {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0;
}
inline filename_t dir_name(const filename_t& path) {
    const std::size_t slash = path.rfind('/');
    return slash == filename_t::npos ? filename_t() : path.substr(0, slash);
}
// With those that it lies in. Whether it is there.
inline bool create_dir(const filename_t& path) {
    if (path.empty()) return false;
    for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
        const filename_t part = path.substr(0, at);
        if (!path_exists(part) && ::mkdir(part.c_str(), 0777) != 0 && !path_exists(part)) return false;
        if (at == filename_t::npos) return true;
    }
}
inline int remove(const filename_t& path) noexcept { return std::remove(path.c_str()); }
inline int remove_if_exists(const filename_t& path) noexcept { return path_exists(path) ? remove(path) : 0; }
inline int rename(const filename_t& from, const filename_t& to) noexcept {
    return std::rename(from.c_str(), to.c_str());
}
inline std::string filename_to_str(const filename_t& path) { return path; }
inline std::size_t filesize(std::FILE* file) {
    struct stat about {};
    if (file == nullptr || ::fstat(::fileno(file), &about) != 0)
        SP_DETAIL_THROW(spdlog_ex("Failed getting file size from fd: " + std::string(std::strerror(errno))));
    return static_cast<std::size_t>(about.st_size);
}
inline std::string getenv(const char* name) {
    const char* const found = ::getenv(name);
    return found == nullptr ? std::string() : std::string(found);
}
inline int pid() noexcept { return ::getpid(); }
inline std::size_t thread_id() noexcept { return log_msg({}, level::off, {}).thread_id; }

}  // namespace os

namespace fmt_helper {

inline void append_string_view(string_view_t text, memory_buf_t& out) { out.append(text); }
template <class T>
void append_int(T number, memory_buf_t& out) {
    out.append(std::to_string(number));
}
template <class T>
void pad_uint(T number, unsigned width, memory_buf_t& out) {
    const std::string digits = std::to_string(number);
    if (digits.size() < width) out.append(width - digits.size(), '0');
    out.append(digits);
}
inline void pad2(int number, memory_buf_t& out) {
    if (number < 0) return append_int(number, out);
    pad_uint(number, 2, out);
}
template <class T>
void pad3(T number, memory_buf_t& out) {
    pad_uint(number, 3, out);
}
template <class T>
void pad6(T number, memory_buf_t& out) {
    pad_uint(number, 6, out);
}
template <class T>
void pad9(T number, memory_buf_t& out) {
    pad_uint(number, 9, out);
}
// Of the second.
template <class Unit>
Unit time_fraction(log_clock::time_point at) {
    return std::chrono::duration_cast<Unit>(at - std::chrono::floor<std::chrono::seconds>(at));
}

}  // namespace fmt_helper
}  // namespace spdlog::details
