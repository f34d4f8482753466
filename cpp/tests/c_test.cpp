// Tracepoints in C (c_points.c), beside those of C++ in the same process: what they record, byte for byte.
// Signals, threads, forks and kills leave what was recorded whole.
#include <fcntl.h>
#include <signal.h>
#include <silverpoint/silverpoint.h>
#include <sys/wait.h>

#include <atomic>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "c_points.h"
#include "support/traced.hpp"

namespace {

using reader::Record;
using reader::Session;
using traced::one;
using traced::take;

constexpr int kLanguageC = 3;

TEST(C, RecordsTypedArgumentsAndTheTextAsItStands) {
    c_printf(7, 2.5);
    const auto seen = one();
    EXPECT_EQ(seen.site.kind, 0);
    EXPECT_EQ(seen.site.flags, 2);
    EXPECT_EQ(seen.site.level, 2);
    EXPECT_EQ(seen.site.language, kLanguageC);
    EXPECT_EQ(seen.site.text, "order %d at %.2f%%");
    EXPECT_EQ(seen.site.function, "c_printf");
    EXPECT_TRUE(seen.site.file.ends_with("c_points.c"));
    EXPECT_EQ(seen.site.category, "outer");
    EXPECT_EQ(seen.site.names, "");
    EXPECT_EQ(seen.site.signature, "id");
    EXPECT_EQ(seen.text, "7 2.5");
    c_no_argument();
    EXPECT_EQ(one().record.size, 16u);
}

TEST(C, EveryTypeAsItIs) {
    c_every_type();
    auto all = take();
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0].site.signature, "bcaAhH");
    EXPECT_EQ(all[0].text, "true 'x' -1 255 -2 65535");
    EXPECT_EQ(all[1].site.signature, "iIlLlL");
    EXPECT_EQ(all[1].text,
              "-2147483648 4294967295 -9223372036854775808 18446744073709551615 -9223372036854775808 "
              "18446744073709551615");
    EXPECT_EQ(all[2].site.signature, "dddpLs");
    EXPECT_EQ(all[2].text, "0.5 2.5 3.5 0x1000 4 \"text\"");
    EXPECT_EQ(all[3].site.signature, "fbsh");
    c_qualified_types();
    all = take();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].site.signature, "idspi");
    EXPECT_EQ(all[0].text, "5 1.5 \"array\" 0x0 1");
    EXPECT_EQ(all[1].site.signature, "ps");
    c_sixteen();
    const auto sixteen = one();
    EXPECT_EQ(sixteen.site.signature, "iiiiiiiiiiiiiiii");
    EXPECT_EQ(sixteen.text, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16");
}

TEST(C, TextsOfEveryLength) {
    for (std::size_t size = 0; size < 200; ++size) {
        std::string text;
        for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i % 26);
        c_texts(text.c_str(), nullptr, text.data(), size);
        EXPECT_EQ(one().text, '"' + text + "\" \"(null)\" \"" + text + '"') << size;
    }
}

TEST(C, PrecisionBoundsWhatIsRead) {
    // Nothing behind the third byte may be read: the page after it cannot be.
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    char* two = static_cast<char*>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(two, MAP_FAILED);
    ASSERT_EQ(mprotect(two + page, page, PROT_NONE), 0);
    char* text = two + page - 3;
    std::memcpy(text, "abc", 3);
    c_bounded(text, 3);
    const auto all = take();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].text, "1 3 \"abc\" \"whole\"");
    EXPECT_EQ(all[1].text, "\"abc\" \"ab\" 2");
    munmap(two, 2 * page);
}

TEST(C, BytesSecretsAndTextsWithALength) {
    c_special();
    const auto all = take();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].site.signature, "y@secret=;ns");
    EXPECT_EQ(all[0].record.args.find("hunter2"), std::string::npos);
    EXPECT_EQ(all[0].record.args.substr(0, 7), std::string("\3\0\0\0\1\2\xff", 7));
    EXPECT_EQ(all[0].record.args.substr(7, 7), std::string("\3\0\0\0abc", 7));
    EXPECT_EQ(all[1].site.signature, "@secret=;n");
    EXPECT_EQ(all[1].record.size, 16u);
}

TEST(C, EventsNameTheirArguments) {
    c_event(-5, 1.25);
    auto seen = one();
    EXPECT_EQ(seen.site.kind, 2);
    EXPECT_EQ(seen.site.text, "order.filled");
    EXPECT_EQ(seen.site.names, "id\nprice\n");
    EXPECT_EQ(seen.site.signature, "ld");
    c_event_of_expressions(2, "x");
    const auto all = take();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].site.text, "an, \"odd\" name");
    EXPECT_EQ(all[0].site.names,
              "a + 1\nstrlen(text)\n(a > 1 ? \"many\" : \"few\")\ntext[0] == ','\na < 3\n");
    EXPECT_EQ(all[0].text, "3 1 \"many\" 0 1");
    EXPECT_EQ(all[1].site.level, 3);
    EXPECT_EQ(all[1].site.names, "");
}

TEST(C, CountersAndInstants) {
    c_counters(3, 1.5);
    c_instant();
    const auto all = take();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].site.kind, 4);
    EXPECT_EQ(all[0].site.names, "depth\n");
    EXPECT_EQ(all[0].site.signature, "i");
    EXPECT_EQ(all[1].site.names, "latency * 2\n");
    EXPECT_EQ(all[1].site.signature, "@unit=m/s%2C%20%3Cx%3E;d");
    EXPECT_EQ(all[2].site.kind, 5);
    EXPECT_EQ(all[2].site.level, 1);
}

TEST(C, LevelsCategoriesAndStatements) {
    c_levels();
    auto all = take();
    ASSERT_EQ(all.size(), 12u);
    for (int i = 0; i < 12; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].site.level, i % 6);
    c_own_category();
    EXPECT_EQ(one().site.category, "outer");
    c_block_category();
    all = take();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].site.category, "inner");
    EXPECT_EQ(all[1].site.category, "own");
    EXPECT_EQ(all[1].site.level, 4);
    for (const bool yes : {true, false}) {
        c_statements(yes);
        all = take();
        ASSERT_EQ(all.size(), 2u);
        EXPECT_EQ(all[0].site.text, yes ? "yes" : "no %d");
        EXPECT_EQ(all[1].site.text, yes ? "case" : "default");
    }
}

// The begin that a span's end names, and its ticks.
struct End {
    std::uint32_t site;
    std::uint64_t ticks;
};
End end_of(const Record& record) {
    End end{};
    std::memcpy(&end.site, record.args.data(), 4);
    std::memcpy(&end.ticks, record.args.data() + 4, 8);
    return end;
}

TEST(C, SpansEndWithTheirScopeOrByHand) {
    take();
    EXPECT_EQ(c_spans(5), 5);
    EXPECT_TRUE(c_empty_span_is_off());
    c_scope();
    std::vector<const Record*> open;
    std::vector<std::string> names;
    const auto all = traced::session().drain();
    for (const Record& record : all) {
        if (record.site >= 16) {
            EXPECT_EQ(traced::session().site(record.site).kind, 3);
            names.push_back(traced::session().site(record.site).text);
            open.push_back(&record);
            continue;
        }
        ASSERT_EQ(record.site, 3u);
        ASSERT_FALSE(open.empty());
        EXPECT_EQ(end_of(record).site, open.back()->site);
        EXPECT_EQ(end_of(record).ticks, open.back()->ticks);
        open.pop_back();
    }
    EXPECT_TRUE(open.empty());
    EXPECT_EQ(names, (std::vector<std::string>{"outer", "inner", "round", "round", "c_scope"}));
}

TEST(C, IdsOfAsyncSpansAndFlows) {
    const std::uint64_t id = c_new_id();
    EXPECT_NE(id, 0u);
    EXPECT_NE(c_new_id(), id);
    EXPECT_NE(silverpoint::new_id(), id);
    c_async(id, "a.txt");
    const auto all = take();
    ASSERT_EQ(all.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(all[i].site.kind, (std::array{6, 8, 7, 9, 10, 11})[i]);
        EXPECT_EQ(all[i].site.names, i == 0 ? "id\nurl\n" : "id\n");
        EXPECT_EQ(all[i].site.signature, i == 0 ? "Ls" : "L");
        std::uint64_t recorded = 0;
        std::memcpy(&recorded, all[i].record.args.data(), 8);
        EXPECT_EQ(recorded, id);
    }
}

TEST(C, WithoutALevelEventsAreInfoAndAllElseDebug) {
    take();
    c_without_levels();
    const auto all = take();
    ASSERT_EQ(all.size(), 13u);
    for (const auto& seen : all)
        EXPECT_EQ(seen.site.level, seen.site.text == "event" ? 2 : 1) << seen.site.text;
}

TEST(C, OffMeansThatNothingIsEvaluated) {
    EXPECT_EQ(c_evaluations(true), 2);
    EXPECT_EQ(c_enabled(), 3);
    auto seen = take();
    ASSERT_EQ(seen.size(), 1u);
    // Another process may switch a site by its state byte.
    EXPECT_EQ(c_evaluations(false), 2);
    seen = take();
    ASSERT_EQ(seen.size(), 1u);
    traced::session().state(seen[0].site.id) = 0;
    EXPECT_EQ(c_evaluations(false), 0);
    EXPECT_TRUE(take().empty());
    traced::session().state(seen[0].site.id) = 1;
    EXPECT_EQ(c_evaluations(false), 2);
    EXPECT_EQ(one().site.id, seen[0].site.id);
}

TEST(C, LimitsOfOnePlace) {
    take();
    int evaluated = 0;
    for (int i = 0; i < 10; ++i) c_limits(i, &evaluated);
    EXPECT_EQ(evaluated, 4) << "arguments are evaluated for a record, and else not";
    std::map<std::string, std::string> said;
    for (const auto& seen : take()) {
        said[seen.site.text] += seen.text + ' ';
        EXPECT_EQ(seen.site.names, seen.site.kind == 2 && seen.site.text != "plain" ? "i\n" : "");
    }
    EXPECT_EQ(said, (std::map<std::string, std::string>{{"every third %d", "0 3 6 9 "},
                                                        {"twice %d", "0 1 "},
                                                        {"once %d", "0 "},
                                                        {"five %d", "5 "},
                                                        {"an hour %d", "0 "},
                                                        {"no time %d", "0 1 2 3 4 5 6 7 8 9 "},
                                                        {"all", "0 1 2 3 4 5 6 7 8 9 "},
                                                        {"first", "0 "},
                                                        {"plain", " "},
                                                        {"hour", "0 "},
                                                        {"six", "6 "}}));
}

TEST(C, ALimitIsOneForAllThreads) {
    take();
    std::vector<std::thread> threads;
    std::atomic<int> ready{0};
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&] {
            c_prepare();
            // Each keeps its ring until all have one.
            for (++ready; ready < 4;) std::this_thread::yield();
            for (int i = 0; i < 50; ++i) c_count_to_a_hundred();
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(take().size(), 100u);
}

TEST(C, ALimitIsNotEvaluatedWhileItsPlaceIsOff) {
    take();
    EXPECT_TRUE(c_limit_is_evaluated());
    const auto seen = one();
    traced::session().state(seen.site.id) = 0;
    EXPECT_FALSE(c_limit_is_evaluated());
    traced::session().state(seen.site.id) = 1;
    EXPECT_TRUE(c_limit_is_evaluated());
    EXPECT_EQ(take().size(), 1u);
}

TEST(C, ATextThatNoRingTakesIsCutAndSaysSo) {
    const std::string text(1'000'000, 'x');
    c_long_text(text.c_str());
    const auto seen = one();
    EXPECT_EQ(seen.record.flags, 1u);
    std::uint32_t length = 0, missing = 0;
    std::memcpy(&length, seen.record.args.data(), 4);
    std::memcpy(&missing, seen.record.args.data() + 4, 4);
    EXPECT_NE(length & 0x80000000u, 0u);
    EXPECT_EQ((length & 0x7FFFFFFF) + missing, text.size());
    EXPECT_GT(length & 0x7FFFFFFF, 1000u);
    std::int32_t after = 0;
    std::memcpy(&after, seen.record.args.data() + 8 + (length & 0x7FFFFFFF), 4);
    EXPECT_EQ(after, 7);
}

TEST(C, TheHeaderMeansCppInCpp) {
    SP_INFO("{} {}", 1, "two");
    EXPECT_EQ(one().site.language, 1);
    SP_INFOF("%d %s", 1, "two");
    EXPECT_EQ(one().site.flags, 2);
}

TEST(C, SharesTheRingOfCpp) {
    take();
    c_number(1);
    SP_EVENT("cpp.number", 2);
    c_number(3);
    const auto all = take();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].record.stream, all[1].record.stream);
    EXPECT_EQ(all[0].record.stream, all[2].record.stream);
    EXPECT_EQ(all[0].site.language, kLanguageC);
    EXPECT_EQ(all[1].site.language, 1);
    EXPECT_LE(all[0].record.ticks, all[1].record.ticks);
    EXPECT_LE(all[1].record.ticks, all[2].record.ticks);
}

// --- The vectors.

std::string file_text(const std::string& name) {
    std::ifstream file(std::string(SILVERPOINT_VECTORS) + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(C, WritesTheVectorsByteForByte) {
    std::map<std::string, std::string> expected, described;
    std::istringstream lines(file_text("records.tsv"));
    for (std::string line; std::getline(lines, line);)
        expected[line.substr(0, line.find('\t'))] = line.substr(line.find('\t') + 1);
    std::istringstream descriptions(file_text("records.json"));
    std::set<std::string> of_c;
    for (std::string line; std::getline(descriptions, line);) {
        if (line.find("\"name\": \"") == std::string::npos) continue;
        const std::string name = line.substr(10, line.find('"', 10) - 10);
        described[name] = line;
        if (line.find("\"C\"") != std::string::npos) of_c.insert(name);
    }
    take();
    c_test_ticks = 0x0123456789abcdef;
    for (const c_vector* vector = c_vectors; vector->name != nullptr; ++vector) {
        vector->record();
        const auto all = traced::session().drain();
        ASSERT_EQ(all.size(), 1u) << vector->name;
        std::string bytes(16, '\0'), hex;
        const std::uint32_t head = all[0].size | all[0].flags << 24;
        std::memcpy(bytes.data(), &head, 4);
        std::memcpy(bytes.data() + 8, &all[0].ticks, 8);
        for (const char byte : bytes + all[0].args) {
            hex += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
            hex += "0123456789abcdef"[static_cast<unsigned char>(byte) & 15];
        }
        ASSERT_TRUE(expected.contains(vector->name)) << vector->name;
        EXPECT_EQ(hex, expected[vector->name].replace(8, 8, "00000000")) << vector->name;
        const std::string signature =
            "\"signature\": \"" + traced::session().site(all[0].site).signature + '"';
        EXPECT_NE(described[vector->name].find(signature), std::string::npos) << vector->name;
        EXPECT_EQ(of_c.erase(vector->name), 1u) << vector->name << " is not said to be C's";
    }
    c_test_ticks = 0;
    for (const auto& name : of_c) ADD_FAILURE() << name << " is listed as C's";
}

// --- Processes, threads, signals.

TEST(CLife, ThreadsRecordEachInItsOwnRing) {
    take();
    constexpr std::uint64_t kThreads = 8, kEach = 200;
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < kThreads; ++thread)
        threads.emplace_back([thread] {
            c_prepare();
            for (std::uint64_t i = 0; i < kEach; ++i) c_number(thread << 32 | i);
        });
    for (auto& thread : threads) thread.join();
    std::map<std::uint64_t, std::uint64_t> next;
    for (const auto& seen : take()) {
        std::uint64_t number = 0;
        std::memcpy(&number, seen.record.args.data(), 8);
        EXPECT_EQ(number & 0xFFFFFFFF, next[number >> 32]++);
    }
    EXPECT_EQ(next.size(), kThreads);
    for (const auto& [thread, count] : next) EXPECT_EQ(count, kEach) << thread;
}

std::atomic<std::uint64_t> interruptions{0};
void on_signal(int) { c_in_signal(interruptions.fetch_add(1, std::memory_order_relaxed)); }

TEST(CLife, SignalHandlersMayRecordWithinARecord) {
    take();
    constexpr int kSignals[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGURG, SIGPROF};
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    for (const int number : kSignals) sigaction(number, &action, nullptr);
    constexpr std::uint64_t kAll = 200'000;
    std::atomic<bool> done{false}, is_over{false};
    Session& session = traced::session();
    const std::uint64_t nested_before = session.ring_losses_ever(4) + session.session_losses(4);
    session.set<std::uint32_t>(768, 1);  // a collector: the rings wait for it
    session.set<std::uint32_t>(788, 0xFFFFFFFF);
    std::thread victim([&] {
        const pthread_t self = pthread_self();
        std::thread attacker([&] {
            while (!done)
                for (const int number : kSignals) pthread_kill(self, number);
        });
        for (std::uint64_t i = 0; i < kAll; ++i) c_number(i);
        // As long as it takes until handlers have interrupted often enough.
        for (std::uint64_t i = kAll; interruptions < 1000 && i < 100 * kAll; ++i) c_number(i);
        done = true;
        attacker.join();
        // Not before: the last handlers may wait for room.
        is_over = true;
    });
    std::uint64_t loops = 0, handled = 0;
    std::map<std::uint32_t, std::string> texts;
    const auto look = [&] {
        for (const Record& record : session.drain()) {
            if (record.site < 16) continue;
            std::uint64_t number = 0, inverse = 0;
            std::memcpy(&number, record.args.data(), 8);
            std::memcpy(&inverse, record.args.data() + 8, 8);
            ASSERT_EQ(number, ~inverse);
            if (!texts.contains(record.site)) texts[record.site] = session.site(record.site).text;
            ++(texts[record.site] == "c.number" ? loops : handled);
        }
    };
    while (!is_over) look();
    victim.join();
    look();
    const std::uint64_t lost = session.ring_losses_ever(4) + session.session_losses(4) - nested_before;
    session.set<std::uint32_t>(768, 0);
    session.set<std::uint32_t>(788, 1000);
    EXPECT_GE(loops, kAll);
    EXPECT_EQ(handled + lost, interruptions);
    EXPECT_GT(handled, 100u);
}

TEST(CLife, AForkedChildHasASessionOfItsOwn) {
    take();
    c_number(1);
    const pid_t child = fork();
    if (child == 0) {
        int status = 0;
        try {
            c_number(2);
            const auto own = Session::mine().drain();
            status =
                own.size() == 1 && own[0].args.substr(0, 8) == std::string("\2\0\0\0\0\0\0\0", 8) ? 0 : 1;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            status = 2;
        }
        _exit(status);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    c_number(3);
    const auto all = take();
    ASSERT_EQ(all.size(), 2u);
}

TEST(CLife, WhatAForkedChildRecordedOutlivesItsKill) {
    for (int round = 0; round < 5; ++round) {
        int pipes[2];
        ASSERT_EQ(pipe2(pipes, O_CLOEXEC), 0);
        const pid_t child = fork();
        if (child == 0) {
            for (std::uint64_t i = 0;; ++i) {
                c_number(i);
                if (write(pipes[1], &i, sizeof i) != sizeof i) _exit(1);
            }
        }
        close(pipes[1]);
        std::uint64_t last = 0;
        for (int i = 0; i < 10 + round; ++i) ASSERT_EQ(read(pipes[0], &last, sizeof last), 8);
        kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        // What it has said until then was recorded before.
        while (read(pipes[0], &last, sizeof last) == 8) continue;
        close(pipes[0]);
        Session session(Session::path_of(child));
        EXPECT_FALSE(session.is_alive());
        std::uint64_t greatest = 0;
        for (const Record& record : session.drain()) {
            if (record.site < 16) continue;
            std::uint64_t number = 0;
            std::memcpy(&number, record.args.data(), 8);
            greatest = std::max(greatest, number);
        }
        EXPECT_GE(greatest, last);
        EXPECT_LE(greatest, last + 1);
    }
}

}  // namespace
