// Values of <chrono> and <filesystem>: signatures, bytes, and what a stream that is held says of them.
#include <map>
#include <optional>
#include <silverpoint/chrono.hpp>
#include <silverpoint/filesystem.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/expect_value.hpp"

namespace {

using traced::one;
using namespace std::chrono;
using namespace std::string_literals;

// The bytes of a stream that is held.
template <class... Ts>
std::string held(const Ts&... values) {
    {
        auto line = SP_STREAM(info);
        (line << ... << values);
    }
    for (const reader::Record& record : traced::session().drain())
        if (record.site >= 16) return std::string(record.args);
    return {};
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// --- <chrono>

TEST(Calendar, Dates) {
    EXPECT_VALUE("s", "\"2026-11-21\"", year(2026) / 11 / 21);
    EXPECT_VALUE("s", "\"-0044-03-15\"", year(-44) / 3 / 15);
    EXPECT_VALUE("s", "\"2024-02-29\"", 2024y / February / last);
    EXPECT_VALUE("s", "\"2024-02\"", 2024y / February);
    EXPECT_VALUE("s", "\"02-29\"", February / 29);
    EXPECT_VALUE("s", "\"Nov\"", November);
    EXPECT_VALUE("s", "\"13\"", month(13));
    EXPECT_VALUE("s", "\"Sat\"", Saturday);
    EXPECT_VALUE("s", "\"9\"", weekday(9));
    EXPECT_VALUE("i", "-44", year(-44));
    EXPECT_VALUE("A", "31", day(31));
    EXPECT_VALUE("[s", "[\"2026-11-21\", \"2026-11-22\"]",
                 (std::vector<year_month_day>{2026y / 11 / 21, 2026y / 11 / 22}));
    SP_INFO("{:>12s}|{:02d}", 2026y / 11 / 21, day(3));
    EXPECT_EQ(one().site.text, "{:>12s}|{:02d}");
}

TEST(Calendar, TimesOfDay) {
    EXPECT_VALUE("s", "\"03:04:05\"", hh_mm_ss(3h + 4min + 5s));
    EXPECT_VALUE("s", "\"-03:04:05.007\"", hh_mm_ss(-(3h + 4min + 5s + 7ms)));
    EXPECT_VALUE("s", "\"00:00:00.000000001\"", hh_mm_ss(1ns));
    EXPECT_VALUE("s", "\"123456:00:00\"", hh_mm_ss(123456h));
    EXPECT_VALUE("s", "\"00:00:01.500\"",
                 (hh_mm_ss<duration<double, std::milli>>(duration<double, std::milli>(1500))));
}

TEST(TimePoints, OfClocksThatKnowTheSystems) {
    const auto time = sys_time<nanoseconds>(1'700'000'000'123'456'789ns);
    EXPECT_VALUE("t", "@1700000000123456789", file_clock::from_sys(time));
    EXPECT_VALUE("?t", "@5", std::optional(system_clock::time_point(5ns)));
    EXPECT_VALUE("@clock=steady_clock;T", "7ns", steady_clock::time_point(7ns));
}

TEST(TimePoints, LocalOnesHaveNoZone) {
    EXPECT_VALUE("s", "\"2026-11-21T03:04:05.678000000\"",
                 local_days(2026y / 11 / 21) + 3h + 4min + 5s + 678ms);
    EXPECT_VALUE("s", "\"1969-12-31T23:59:59.000000000\"", local_seconds(-1s));
    EXPECT_VALUE("s", "\"2262-04-11T23:47:16.854775807\"", local_seconds(seconds::max()));
    EXPECT_VALUE("s", "\"1677-09-21T00:12:43.145224192\"", local_seconds(seconds::min()));
}

// As std::chrono::zoned_time, which this standard library may lack.
struct Zone {
    std::string_view name() const { return "Europe/Berlin"; }
};
struct Zoned {
    const Zone* zone;
    const Zone* get_time_zone() const { return zone; }
    sys_seconds get_sys_time() const { return sys_seconds(100s); }
};

TEST(TimePoints, ZonedOnesKeepTheirZone) {
    const Zone zone;
    EXPECT_VALUE("<zoned_time|time:t,zone:s,>", "zoned_time{time: @100000000000, zone: \"Europe/Berlin\"}",
                 (Zoned{&zone}));
    EXPECT_VALUE("<zoned_time|time:t,zone:s,>", "zoned_time{time: @100000000000, zone: \"\"}",
                 (Zoned{nullptr}));
    EXPECT_TRUE(holds(held(Zoned{&zone}), "Europe/Berlin"));
#if __cpp_lib_chrono >= 201907L
    EXPECT_VALUE("<zoned_time|time:t,zone:s,>", "zoned_time{time: @0, zone: \"Etc/UTC\"}",
                 (zoned_time("Etc/UTC", sys_seconds(0s))));
#endif
}

TEST(Calendar, HeldStreams) {
    const std::string bytes = held(2026y / 11 / 21, hh_mm_ss(1s), year(2026), day(3), local_days(days(0)),
                                   std::map<std::string, weekday>{{"k", Monday}});
    for (const char* part : {"2026-11-21", "00:00:01", "1970-01-01T00:00:00.000000000", "Mon"})
        EXPECT_TRUE(holds(bytes, part)) << part;
    EXPECT_TRUE(holds(bytes, "\x19\x07\xEA\x03")) << "2026 and 3 as integers";
}

// --- <filesystem>

namespace fs = std::filesystem;

TEST(Paths, AreText) {
    EXPECT_VALUE("s", "\"/tmp/a b\"", fs::path("/tmp/a b"));
    EXPECT_VALUE("s", "\"\"", fs::path());
    EXPECT_VALUE("s", "\"relative/x\"", fs::path("relative") / "x");
    EXPECT_VALUE("[s", "[\"a\", \"b\"]", (std::vector<fs::path>{"a", "b"}));
    EXPECT_VALUE("{ss", "{\"a\": \"b\"}", (std::map<fs::path, fs::path>{{"a", "b"}}));
    EXPECT_VALUE("?s", "\"x\"", std::optional<fs::path>("x"));
    EXPECT_VALUE("@unit=x;s", "\"p\"", SP_UNIT(fs::path("p"), "x"));
    SP_INFO("{:>20s}", fs::path("x"));
    EXPECT_EQ(one().site.text, "{:>20s}");
    EXPECT_TRUE(holds(held(fs::path("/some/where")), "/some/where"));
}

TEST(Paths, TooLongOnesAreCut) {
    SP_INFO("{}", fs::path(std::string(1 << 24, 'p')));
    EXPECT_TRUE(holds(one().text, "p\"…+"));
}

TEST(Entries, AreTheirPaths) {
    const fs::path root = fs::temp_directory_path();
    EXPECT_VALUE("s", "\"" + root.string() + "\"", fs::directory_entry(root));
}

TEST(Status, TypeAndPermissions) {
    using fs::perms;
    EXPECT_VALUE("s", "\"rwxr-xr--\"", static_cast<perms>(0754));
    EXPECT_VALUE("s", "\"---------\"", perms::none);
    EXPECT_VALUE("s", "\"rwsr-Sr-t\"", static_cast<perms>(07745));
    EXPECT_VALUE("s", "\"--S--s--T\"", static_cast<perms>(07010));
    EXPECT_VALUE("s", "\"unknown\"", perms::unknown);
    SP_INFO("{}", fs::file_status(fs::file_type::directory, static_cast<perms>(0755)));
    const auto seen = one();
    EXPECT_TRUE(seen.site.signature.starts_with(
        "<std%3A%3Afilesystem%3A%3Afile_status|type:estd%3A%3Afilesystem%3A%3Afile_type|a|0=none,"))
        << seen.site.signature;
    EXPECT_TRUE(holds(seen.text, "file_type(2), permissions: \"rwxr-xr-x\"}")) << seen.text;
    EXPECT_TRUE(holds(held(fs::file_status(fs::file_type::fifo)), "fifo"));
}

TEST(Status, Space) {
    EXPECT_VALUE(
        "<std%3A%3Afilesystem%3A%3Aspace_info|capacity:@unit=B;L,free:@unit=B;L,available:@unit=B;L,>",
        "std%3A%3Afilesystem%3A%3Aspace_info{capacity: 3, free: 2, available: 1}", (fs::space_info{3, 2, 1}));
}

}  // namespace
