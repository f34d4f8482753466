// What format_test.cpp and format_part.cpp have in common.
#pragma once

#include <silverpoint/format.hpp>

inline void in_header(const char* text) { silverpoint::info("in a header {}", text); }

// A class whose members are such functions.
struct Member {
    template <class... Ts, class Tag = SP_DETAIL_THIS_CALL>
    void info(silverpoint::detail::TextAt<std::type_identity_t<Ts>...> text, const Ts&... args) {
        silverpoint::detail::record_call(silverpoint::detail::call_site<Tag>(), "member",
                                         silverpoint::Level::kInfo, text.text, text.at, args...);
    }
    void call(const char* text) { info("of a member {}", text); }
};

void format_here(const char* text);
void format_elsewhere(const char* text);
void first_of_part(int number);
void first_of_other_part(int number);
