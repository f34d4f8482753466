// Scopes of ATrace: those that end in other threads, those with a name that is formatted, and names that are
// not remembered.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <silverpoint/atrace.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/traced.hpp"

namespace {

namespace atrace = silverpoint::atrace;

class AtraceScopes : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        place() = std::string(std::getenv("SILVERPOINT_DIR")) + "-atrace-scopes";
        ASSERT_EQ(mkdir(place().c_str(), 0700), 0);
        std::ofstream(place() + "/marker").flush();
        setenv("SILVERPOINT_ATRACE_MARKER", (place() + "/marker").c_str(), 1);
        setenv("SILVERPOINT_ATRACE_PROPERTIES", (place() + "/properties").c_str(), 1);
    }
    static void TearDownTestSuite() {
        for (const char* name : {"/marker", "/properties"}) std::remove((place() + name).c_str());
        rmdir(place().c_str());
    }
    void SetUp() override {
        become(0);
        ASSERT_EQ(truncate((place() + "/marker").c_str(), 0), 0);
        (void)traced::session().drain();
    }
    static std::string& place() {
        static std::string path;
        return path;
    }
    static void become(unsigned tags) {
        std::ofstream(place() + "/properties") << "debug.atrace.tags.enableflags=" << tags << "\n";
        atrace::update_tags();
    }
    // Messages without the process's number and cookies.
    static std::vector<std::string> messages() {
        std::vector<std::string> all;
        std::ifstream file(place() + "/marker");
        for (std::string line; std::getline(file, line);) {
            const std::string process = "|" + std::to_string(getpid());
            line.erase(line.find(process), process.size());
            if (line[0] == 'S' || line[0] == 'F') {
                cookies().push_back(line.substr(line.rfind('|') + 1));
                line.resize(line.rfind('|'));
            }
            all.push_back(line);
        }
        return all;
    }
    static std::vector<std::string>& cookies() {
        static std::vector<std::string> all;
        return all;
    }
    // Kind and name of what is in the ring; ends of spans are "end".
    static std::vector<std::string> recorded() {
        std::vector<std::string> all;
        for (const auto& record : traced::session().drain()) {
            if (record.site == 3) {
                all.push_back("end");
            } else if (record.site >= 16) {
                const auto site = traced::session().site(record.site);
                all.push_back(std::to_string(static_cast<int>(site.kind)) + " " + site.text.substr(0, 20));
            }
        }
        return all;
    }
    using Texts = std::vector<std::string>;
};

TEST_F(AtraceScopes, AsyncOnesEndWhereTheyWereBegunWhateverWasSwitched) {
    become(1u << 12);
    cookies().clear();
    std::optional<atrace::AsyncScope> first(std::in_place, atrace::kApp, "later");
    std::optional<atrace::AsyncScope> off(std::in_place, atrace::kGraphics, "off");
    atrace::AsyncScope second = atrace::async_scope(atrace::kApp, "later");
    become(0);
    EXPECT_FALSE(atrace::is_tag_enabled(atrace::kApp));
    const auto silent = atrace::async_scope(atrace::kApp, "silent");
    std::thread([&first] { first.reset(); }).join();
    become(1u << 1);
    off.reset();  // its tag is on now, but it was not begun
    { const atrace::AsyncScope moved = std::move(second); }
    const Texts expected = {"S|later", "S|later", "F|later", "F|later"};
    EXPECT_EQ(messages(), expected);
    ASSERT_EQ(cookies().size(), 4u);
    EXPECT_NE(cookies()[0], cookies()[1]) << "each has a cookie of its own";
    EXPECT_EQ(cookies()[0], cookies()[2]);
    EXPECT_EQ(cookies()[1], cookies()[3]);
    auto found = recorded();
    std::sort(found.begin(), found.end());  // that of the other thread is in a ring of its own
    EXPECT_EQ(found, (Texts{"6 later", "6 later", "7 later", "7 later"}));
}

TEST_F(AtraceScopes, NamesAreFormattedOnlyWhenTheyAreWanted) {
    int asked = 0;
    const auto number = [&asked] { return ++asked; };
    { SP_ATRACE_FORMAT("frame %d", number()); }
    { SP_ATRACE_TAG_FORMAT(atrace::kGraphics | atrace::kView, "frame %d", number()); }
    EXPECT_EQ(asked, 0);
    become(1u << 12);
    for (int i = 0; i < 2; ++i) {
        SP_ATRACE_FORMAT("frame %d of %s", number(), "all");
        SP_ATRACE_TAG_FORMAT(atrace::kGraphics, "off %d", number());
    }
    {
        const atrace::Scope made(atrace::kApp, [] { return std::string("made"); });
    }
    EXPECT_EQ(asked, 2);
    const Texts expected = {"B|frame 1 of all", "E", "B|frame 2 of all", "E", "B|made", "E"};
    EXPECT_EQ(messages(), expected);
    EXPECT_EQ(recorded(), (Texts{"3 frame 1 of all", "end", "3 frame 2 of all", "end", "3 made", "end"}));
    { SP_ATRACE_FORMAT("%*d", 5000, 1); }
    EXPECT_EQ(recorded().size(), 2u);
}

// A site has one kind: those of names that are not remembered, too.
TEST_F(AtraceScopes, NamesThatAreNotRememberedKeepTheirKind) {
    const std::string name(5000, 'n');
    become(1u << 12);
    atrace::begin(atrace::kApp, name);
    atrace::instant(atrace::kApp, name);
    atrace::end(atrace::kApp);
    atrace::async_begin(atrace::kApp, name, 1);
    atrace::async_end(atrace::kApp, name, 1);
    { const atrace::AsyncScope scope(atrace::kApp, name); }
    atrace::track_begin(atrace::kApp, name, "x", 1);
    atrace::track_instant(atrace::kApp, "x", name);
    atrace::int64(atrace::kApp, name, 1);
    EXPECT_EQ(recorded(), (Texts{"3 atrace", "5 atrace", "end", "6 atrace", "7 atrace", "6 atrace",
                                 "7 atrace", "6 atrace", "5 atrace", "4 atrace"}));
}

}  // namespace
