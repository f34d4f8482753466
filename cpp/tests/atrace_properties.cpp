// Properties of ATrace: which tags they enable, in a file that changes. Part of atrace_test.
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <set>

#include "atrace_fixture.hpp"

namespace {

// A column of spec/vectors/atrace.tsv as the bytes that it stands for.
std::string bytes_of(const std::string& column) {
    std::string bytes;
    for (std::size_t at = 0; at < column.size(); ++at) {
        if (column[at] != '\\') {
            bytes += column[at];
        } else if (column[++at] == 'x') {
            bytes += static_cast<char>(std::stoi(column.substr(at + 1, 2), nullptr, 16));
            at += 2;
        } else {
            bytes += column[at] == 'n' ? '\n' : column[at] == 'r' ? '\r' : '\t';
        }
    }
    return bytes;
}

TEST_F(Atrace, PropertiesAreWhatTheyAreInAllLanguages) {
    static std::map<std::string, std::string> variables;
    const auto environment = [](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() || found->second.empty() ? nullptr : found->second.c_str();
    };
    std::size_t cases = 0;
    for (const std::string& line : lines_of(read_file(SILVERPOINT_VECTORS "/atrace.tsv"))) {
        if (line.starts_with('#')) continue;
        std::vector<std::string> columns;
        std::stringstream stream(line);
        for (std::string column; std::getline(stream, column, '\t');) columns.push_back(column);
        ASSERT_EQ(columns.size(), 5u) << line;
        variables.clear();
        for (const std::string& variable : lines_of(columns[1] == "-" ? "" : bytes_of(columns[1]))) {
            const std::size_t equals = variable.find('=');
            variables[variable.substr(0, equals)] = variable.substr(equals + 1);
        }
        const std::string path = place() + "/case";
        std::remove(path.c_str());
        if (columns[2] != "absent") std::ofstream(path) << bytes_of(columns[2]);
        static silverpoint::detail::AtraceProperties properties;
        properties.read_file(columns[2] == "-" ? nullptr : path.c_str());
        std::uint64_t tags = 0;
        const bool is_set = properties.tags_of(bytes_of(columns[3]), environment, tags);
        EXPECT_EQ(is_set, columns[4] != "unset") << columns[0];
        EXPECT_EQ(tags, columns[4] == "unset" ? 0 : std::stoull(columns[4], nullptr, 0)) << columns[0];
        std::remove(path.c_str());
        ++cases;
    }
    EXPECT_GE(cases, 50u);
}

TEST_F(Atrace, PropertiesOfAnySizeAndKindAreReadAsFarAsTheyAreLines) {
    const std::string path = place() + "/properties", flags = "debug.atrace.tags.enableflags=0x1000";
    const auto tags_of = [&](const std::string& text) {
        set_properties(text);
        atrace::update_tags();
        return atrace::enabled_tags();
    };
    EXPECT_EQ(tags_of(flags), 0x1001u);
    EXPECT_EQ(tags_of(""), 0u);
    EXPECT_EQ(tags_of(flags + "\r\n"), 0x1001u);
    const std::string before = "debug.atrace.tags.enableflags=0x10\n#";
    for (const int beyond : {-1, 0, 1, 2, 100}) {
        const auto size = static_cast<std::size_t>(65536 + beyond) - before.size() - flags.size() - 1;
        EXPECT_EQ(tags_of(before + std::string(size, 'x') + "\n" + flags), beyond > 0 ? 0x11u : 0x1001u)
            << beyond;
    }
    EXPECT_EQ(tags_of(flags + std::string(200000, ' ')), 0u);
    // Nobody writes into a pipe, and there is nothing in a directory.
    std::remove(path.c_str());
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    atrace::update_tags();
    EXPECT_EQ(atrace::enabled_tags(), 0u);
    std::remove(path.c_str());
    ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
    atrace::update_tags();
    EXPECT_EQ(atrace::enabled_tags(), 0u);
    ASSERT_EQ(rmdir(path.c_str()), 0);
    atrace::update_tags();
    EXPECT_EQ(atrace::enabled_tags(), 0u);
}

TEST_F(Atrace, PropertiesAreFollowedAndNamePrograms) {
    become("debug.atrace.tags.enableflags = 2 # gfx\n", 3);
    atrace::instant(atrace::kGraphics, "one");
    atrace::instant(atrace::kApp, "off");
    const std::string own = program_invocation_short_name;
    become("debug.atrace.app_number=2\ndebug.atrace.app_0=other\ndebug.atrace.app_1=" + own + "\n", 0x1001);
    atrace::instant(atrace::kApp, "two");
    become("debug.atrace.app_number=1\ndebug.atrace.app_0=other\n", 0);
    EXPECT_EQ(atrace::enabled_tags(), 0u);
    atrace::instant(atrace::kApp, "off");
    become("debug.atrace.app_number=99999999999999999999\ndebug.atrace.app_0=*\n", 0);
    become("debug.atrace.app_number=1\ndebug.atrace.app_0=*\n", 0x1001);
    atrace::instant(atrace::kApp, "three");
    const std::string instant = "I|" + std::to_string(getpid()) + "|";
    const std::vector<std::string> expected = {instant + "one", instant + "two", instant + "three"};
    EXPECT_EQ(marker(), expected);
}

}  // namespace
