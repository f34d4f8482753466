// Makes events of what it reads, with a backend that keeps the bytes.
//
// A line has texts in hexadecimal, `-` if empty. They are kind and level (two bytes), category, template,
// names, signature, arguments, fields of scopes, and whether a value is cut (a byte). For each line it prints
// the tracepoint's declaration and the event, then those of the span's end.
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <user_events/tracepoints.hpp>
#include <vector>

using namespace silverpoint::user_events;

static std::vector<std::string> declarations;
static std::string last;

static const Backend kept{[] { return 0; },
                          [] {},
                          [] { return false; },
                          [](const char* declaration, int* enabled, std::uint32_t* index) {
                              *index = static_cast<std::uint32_t>(declarations.size());
                              declarations.emplace_back(declaration);
                              *enabled = 1;
                              return 0;
                          },
                          [](std::uint32_t index, iovec* parts, int count) {
                              last = declarations.at(index) + '\n';
                              for (int i = 1; i < count; ++i)
                                  last.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
                              return true;
                          },
                          "memory",
                          65535};

static std::string bytes_of(const std::string& hex) {
    std::string bytes;
    for (std::size_t i = 0; hex != "-" && i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

static void show(const ProbeEvent* event, const ProbeRecord& record) {
    if (event == nullptr) {
        std::printf(" -");
        return;
    }
    if (!event->is_wanted()) std::abort();
    event->write(event, &record);
    std::printf(" ");
    for (const char c : last) std::printf("%02x", static_cast<unsigned char>(c));
}

int main() {
    backend = &kept;
    Tracepoints tracepoints;
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

        const SiteEvent* const made = tracepoints.make(Description(description.data()));
        const auto pointer = [](const std::string& text) {
            return reinterpret_cast<const unsigned char*>(text.data());
        };
        const ProbeRecord record{pointer(all.at(5)), all.at(5).size(), pointer(all.at(6)),
                                 all.at(6).size(),   nullptr,          all.at(7) == "\1"};
        const std::uint64_t duration = 12345;
        const ProbeRecord end{
            reinterpret_cast<const unsigned char*>(&duration), sizeof duration, nullptr, 0, nullptr, false};
        show(made == nullptr ? nullptr : &made->shared, record);
        show(made == nullptr ? nullptr : made->shared.end, end);
        std::printf("\n");
    }
}
