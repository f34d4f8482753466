// What the programs that encode events read.
//
// A line has texts in hexadecimal, `-` if empty. They are kind and level (two bytes), category, template,
// names, signature, arguments, fields of scopes, and whether a value is cut (a byte).
#pragma once

#include <cstdio>
#include <iostream>
#include <probes/description.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace cases {

using namespace silverpoint::probes;

inline std::string bytes_of(const std::string& hex) {
    std::string bytes;
    for (std::size_t i = 0; hex != "-" && i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

// The ticks at which each span begins.
inline constexpr std::uint64_t kBegan = 77;

// Prints an event behind a space, `-` if there is none. `last` is what the event's `write` leaves.
inline void show(const ProbeEvent* event, const ProbeRecord& record, const std::string& last) {
    if (event == nullptr) {
        std::printf(" -");
        return;
    }
    if (!event->is_wanted()) std::abort();
    event->write(event, &record);
    if (event->begun != nullptr) event->begun(event, kBegan);
    std::printf(" ");
    for (const char c : last) std::printf("%02x", static_cast<unsigned char>(c));
}

// Prints a line for each: the event that `make` returns for its description, then that of the span's end.
template <class Make>
void show_all(const Make& make, const std::string& last) {
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::vector<std::string> all;
        for (std::string word; words >> word;) all.push_back(bytes_of(word));
        // A description as it lies in a session.
        const auto put = [](std::string& to, std::size_t at, auto value) {
            to.replace(at, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
        };
        std::string description(kDescFixed, '\0');
        description[16] = all.at(0)[0];
        description[17] = all.at(0)[1];
        put(description, 20, std::uint32_t{17});
        const std::string file = "src/odd \xC3\xBC;file.cpp";
        put(description, 28, static_cast<std::uint16_t>(all.at(1).size()));
        put(description, 30, static_cast<std::uint16_t>(file.size()));
        put(description, 34, static_cast<std::uint16_t>(all.at(3).size()));
        put(description, 36, static_cast<std::uint32_t>(all.at(2).size()));
        put(description, 40, static_cast<std::uint32_t>(all.at(4).size()));
        description += all.at(1) + file + all.at(3) + all.at(2) + all.at(4);

        const ProbeEvent* const made = make(Description(description.data()));
        const auto pointer = [](const std::string& text) {
            return reinterpret_cast<const unsigned char*>(text.data());
        };
        const ProbeRecord record{pointer(all.at(5)), all.at(5).size(), pointer(all.at(6)),
                                 all.at(6).size(),   nullptr,          all.at(7) == "\1"};
        const std::uint64_t duration = 12345;
        const ProbeSpanEnd end{
            {reinterpret_cast<const unsigned char*>(&duration), sizeof duration, nullptr, 0, nullptr, false},
            kBegan};
        show(made, record, last);
        show(made == nullptr ? nullptr : made->end, end, last);
        std::printf("\n");
    }
}

}  // namespace cases
