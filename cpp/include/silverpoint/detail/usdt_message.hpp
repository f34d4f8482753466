// The one USDT probe of messages from other facades, Qt's and glog's (spec/usdt.md, Messages of other
// facades): `silverpoint:message`. Their texts are made where no place of a statement is known to the
// assembler.
//
//   message ─▶ usdt_wants_messages ─▶ its text ─▶ usdt_message ─▶ `nop`
//
// Files with and without SILVERPOINT_USDT may be linked together. Those without find the probe by a weak
// symbol, which is null in a program that has none.
#pragma once

#include <string_view>

#include "config.hpp"

#ifdef SILVERPOINT_USDT
#    include "usdt.hpp"

extern "C" {
// In a group of its own, so that a program has one. It is emitted for files without the switch, too.
[[gnu::used, gnu::noinline, gnu::cold, gnu::visibility("hidden")]] inline void silverpoint_usdt_message(
    unsigned char level, const char* category, std::size_t category_size, const char* text,
    std::size_t text_size, std::uint32_t line, const char* file, std::size_t file_size) {
    using namespace silverpoint::detail;
    constexpr auto names = [] {
        return usdt_names("silverpoint", "message", UsdtText::kName, __FILE__, __LINE__);
    };
    usdt_hit<std::remove_const_t<decltype(names)>, UsdtPart::kWhole>(
        level, usdt_address(category), std::uint64_t{category_size}, usdt_address(text),
        std::uint64_t{text_size}, line, usdt_address(file), std::uint64_t{file_size});
}
}
#else
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern unsigned short silverpoint_usdt_semaphore;
[[gnu::weak, gnu::visibility("hidden")]] void silverpoint_usdt_message(unsigned char, const char*,
                                                                       std::size_t, const char*, std::size_t,
                                                                       std::uint32_t, const char*,
                                                                       std::size_t);
}
#endif

SP_DETAIL_BEGIN

// Whether a tracer is attached to any probe of this program or shared library.
inline bool usdt_wants_messages() {
#ifdef SILVERPOINT_USDT
    return usdt_is_attached();
#else
    return &silverpoint_usdt_semaphore != nullptr && &silverpoint_usdt_message != nullptr &&
           __atomic_load_n(&silverpoint_usdt_semaphore, __ATOMIC_RELAXED) != 0;
#endif
}

// The same for code that is compiled into the place of a statement: a file without SILVERPOINT_USDT pays
// nothing.
SP_DETAIL_HOT bool usdt_wants_statements() {
#ifdef SILVERPOINT_USDT
    return usdt_is_attached();
#else
    return false;
#endif
}

// Only where usdt_wants_messages().
inline void usdt_message(Level level, std::string_view category, std::string_view text, std::string_view file,
                         std::uint32_t line) {
    silverpoint_usdt_message(static_cast<unsigned char>(level), category.data(), category.size(), text.data(),
                             text.size(), line, file.data(), file.size());
}

SP_DETAIL_END
