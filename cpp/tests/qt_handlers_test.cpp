// Streams held as a QDebug, categories that change at one place, and handlers of others: the message in the
// record and in Qt's output.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <thread>

#include "silverpoint/crash.hpp"
#include "silverpoint/qt/debug.hpp"
#include "support/traced.hpp"

Q_LOGGING_CATEGORY(net, "net")
Q_LOGGING_CATEGORY(gui, "gui")

namespace {

using Lines = std::vector<std::string>;

// The records since the last call: category, and what the arguments are.
Lines seen() {
    Lines all;
    for (const traced::Seen& one : traced::take()) all.push_back(one.site.category + ": " + one.text);
    return all;
}

Lines printed;
void print(QtMsgType, const QMessageLogContext& context, const QString& text) {
    const char* category = context.category == nullptr ? "none" : context.category;
    printed.push_back(std::string(category) + ": " + text.toStdString());
}
void print_elsewhere(QtMsgType, const QMessageLogContext&, const QString& text) {
    printed.push_back("elsewhere: " + text.toStdString());
}

class QtHandlers : public testing::Test {
  protected:
    void SetUp() override {
        printed.clear();
        before_ = qInstallMessageHandler(print);
    }
    void TearDown() override {
        silverpoint::qt::echo(false);
        silverpoint::qt::remove_message_handler();
        qInstallMessageHandler(before_);
        seen();
    }
    QtMessageHandler before_ = nullptr;
};

void hold(int number) {
    QDebug held = qWarning();
    held << "held" << number;
}

// --- Categories

void note(const QLoggingCategory& category, int number) { qCInfo(category) << "number" << number; }
void note_formatted(const QLoggingCategory& category, int number) { qInfo(category, "number %d", number); }
void note_held(const QLoggingCategory& category, int number) {
    QDebug held = qInfo(category);
    held << number;
}

// Every message of a place was of the category of its first.
TEST_F(QtHandlers, EachMessageHasTheCategoryThatItWasSentWith) {
    for (const auto note_one : {note, note_formatted, note_held}) {
        note_one(net(), 1);
        note_one(gui(), 2);
        note_one(net(), 3);
        note_one(gui(), 4);
    }
    EXPECT_EQ(seen(), (Lines{"net: 1", "gui: u\"number 2\"", "net: 3", "gui: u\"number 4\"",  //
                             "net: 1", "gui: u\"number 2\"", "net: 3", "gui: u\"number 4\"",  //
                             "net: u\"1\"", "gui: u\"2\"", "net: u\"3\"", "gui: u\"4\""}));
    EXPECT_TRUE(printed.empty());
    silverpoint::qt::echo(true);
    note(net(), 5);
    note(gui(), 6);
    EXPECT_EQ(seen(), (Lines{"net: 5", "gui: u\"number 6\""}));
    EXPECT_EQ(printed, (Lines{"net: number 5", "gui: number 6"}));
}

// Their names may be anywhere, and change.
TEST_F(QtHandlers, CategoriesMayDieBeforeThePlacesThatNameThem) {
    for (const char* name : {"first", "second", "first"}) {
        std::string copy(name);
        const QLoggingCategory category(copy.c_str());
        note(category, 1);
        copy.assign(copy.size(), '?');
    }
    EXPECT_EQ(seen(), (Lines{"first: u\"number 1\"", "second: u\"number 1\"", "first: u\"number 1\""}));
}

// --- Held streams

TEST_F(QtHandlers, HeldStreamsAreEchoedAsStatementsAre) {
    hold(1);
    EXPECT_TRUE(printed.empty());
    silverpoint::qt::install_message_handler(true);
    hold(2);
    EXPECT_TRUE(printed.empty()) << "what others print is passed on, this is ours";
    silverpoint::qt::echo(true);
    hold(3);
    qWarning() << "statement";
    EXPECT_EQ(printed, (Lines{"default: held 3", "default: statement"}));
    silverpoint::qt::install_message_handler(false);
    hold(4);
    EXPECT_EQ(printed.size(), 3u);
    EXPECT_EQ(seen(), (Lines{"default: u\"held 1\"", "default: u\"held 2\"", "default: u\"held 3\"",
                             "default: ", "default: u\"held 4\""}));
}

TEST(QtHandlersDeathTest, HeldStreamsThatEndTheProgramArePrinted) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(
        {
            qputenv("QT_FATAL_WARNINGS", "1");
            QDebug(qDebug()) << "not yet";
            hold(7);
        },
        "^held 7\n$");
    EXPECT_EXIT(
        {
            qputenv("SILVERPOINT_QT_ECHO", "1");
            hold(8);
            std::exit(0);
        },
        testing::ExitedWithCode(0), "^held 8\n$");
}

// What a child records that ends by itself: the records of its session, with their templates.
template <class F>
Lines recorded_by_dying(const F& body) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit none{0, 0};
        setrlimit(RLIMIT_CORE, &none);
        std::signal(SIGABRT, SIG_DFL);
        if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
        qInstallMessageHandler(nullptr);
        body();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
    Lines all;
    reader::Session session(reader::Session::path_of(child));
    for (const reader::Record& record : session.drain()) {
        if (record.site < 16) continue;
        const reader::Site site = session.site(record.site);
        all.push_back(std::to_string(static_cast<int>(site.level)) + ' ' + site.category + ": " + site.text +
                      " | " + reader::text_of(record, site));
    }
    return all;
}

TEST_F(QtHandlers, WhatEndsTheProgramIsRecordedBeforeItDoes) {
    constexpr int kNumber = 5;
    EXPECT_EQ(recorded_by_dying([] { qFatal("the end %d", kNumber); }), Lines{"5 default: the end %d | 5"});
    EXPECT_EQ(recorded_by_dying([] { qFatal() << "the end" << kNumber; }),
              Lines{"5 default: the end {} | 5"});
    EXPECT_EQ(recorded_by_dying([] { qCFatal(net, "the end %d", kNumber); }), Lines{"5 net: the end %d | 5"});
}

// Qt reports it by its message handler, and then aborts without a text of the C library.
TEST_F(QtHandlers, AFailedAssertIsItsTextAndACrash) {
    const auto left_by = [](void (*fail)()) {
        return recorded_by_dying([fail] {
            silverpoint::qt::install_message_handler();
            silverpoint::install_crash_handler();
            fail();
        });
    };
    const auto expect = [](const Lines& left, std::string_view text) {
        ASSERT_EQ(left.size(), 2u);
        EXPECT_TRUE(left[0].starts_with("5 default: {} | ")) << left[0];
        EXPECT_NE(left[0].find(text), std::string::npos) << left[0];
        EXPECT_TRUE(left[1].starts_with("5 silverpoint.crash: {} | \"SIGABRT (SI_TKILL) sent by process "))
            << left[1];
    };
    static volatile int number = 5;
    expect(left_by([] { Q_ASSERT(number == 6); }), "ASSERT: \"number == 6\" in file ");
    expect(left_by([] { Q_ASSERT_X(number == 6, "here", "six expected"); }),
           "ASSERT failure in here: \"six expected\", file ");
}

// --- Handlers of others

// They were recorded until another handler came, and never again.
TEST_F(QtHandlers, HeldStreamsAreRecordedAfterAnotherHandlerWasInstalled) {
    hold(1);
    qInstallMessageHandler(print_elsewhere);
    hold(2);
    qInstallMessageHandler(nullptr);
    hold(3);
    EXPECT_EQ(seen(), (Lines{"default: u\"held 1\"", "default: u\"held 2\"", "default: u\"held 3\""}));
    EXPECT_TRUE(printed.empty());
}

// Who puts back what he found has the chain that he found: his own handler may be gone.
TEST_F(QtHandlers, AHandlerThatWasTakenAwayIsNotCalled) {
    hold(1);
    for (int i = 0; i < 20; ++i) {
        const QtMessageHandler found = qInstallMessageHandler(print_elsewhere);
        hold(2);
        QMessageLogger().warning("within");
        qInstallMessageHandler(found);
        QMessageLogger().warning("behind");
        hold(3);
    }
    EXPECT_EQ(printed.size(), 40u);
    EXPECT_EQ(seen().size(), 41u);
    for (std::size_t i = 0; i < printed.size(); i += 2) {
        EXPECT_EQ(printed[i], "elsewhere: within");
        EXPECT_EQ(printed[i + 1], "none: behind");
    }
}

// Each message comes to an end and is recorded once, with any number of handlers and any calls of theirs.
template <int kNumber>
QtMessageHandler behind = nullptr;
template <int kNumber>
void chained(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    behind<kNumber>(type, context, text);
}
template <int... kNumbers>
void install_all(std::integer_sequence<int, kNumbers...>) {
    ((behind<kNumbers> = qInstallMessageHandler(chained<kNumbers>), hold(kNumbers),
      QMessageLogger().warning("foreign %d", kNumbers)),
     ...);
}
TEST_F(QtHandlers, ManyHandlersAboveOneAnother) {
    constexpr int kMany = 30;
    silverpoint::qt::install_message_handler(true);
    install_all(std::make_integer_sequence<int, kMany>());
    EXPECT_EQ(seen().size(), 2u * kMany);
    EXPECT_EQ(printed.size(), std::size_t{kMany}) << "those of others, once each";
}

TEST_F(QtHandlers, HandlersChangeWhileThreadsSpeak) {
    constexpr int kEach = 300;
    silverpoint::qt::install_message_handler(true);
    behind<-1> = qInstallMessageHandler(print);
    qInstallMessageHandler(behind<-1>);
    std::thread other([] {
        for (int i = 0; i < kEach; ++i) QMessageLogger().info("foreign %d", i);
    });
    for (int i = 0; i < kEach; ++i) {
        hold(i);
        const QtMessageHandler found = qInstallMessageHandler(chained<-1>);
        hold(i);
        qInstallMessageHandler(found);
    }
    other.join();
    std::size_t foreign = 0, held = 0;
    for (const std::string& line : seen()) ++(line.find("foreign") != std::string::npos ? foreign : held);
    EXPECT_EQ(held, 2u * kEach);
    EXPECT_LE(foreign, std::size_t{kEach});
    EXPECT_EQ(printed.size(), std::size_t{kEach});
}

// --- Source that Qt compiles

void take(QDebug&& out) { out << "taken"; }
struct Numbers {
    static const int kWithoutDefinition = 5;
};

TEST_F(QtHandlers, WhatQtCompiles) {
    for (const bool is_bad : {false, true}) {
        // The third ends with its block.
        (is_bad ? qWarning() : qDebug()) << "chosen" << is_bad;
        (is_bad ? qDebug(net()) : qInfo(gui())) << is_bad;
        QDebug chosen = is_bad ? qCritical() : qInfo();
        chosen << "held";
        (is_bad ? QDebug(qWarning() << 1) : qInfo()) << 2;
    }
    EXPECT_EQ(seen(), (Lines{"default: false", "gui: false", "default: u\"2\"", "default: u\"held\"",
                             "default: true", "net: true", "default: u\"1 2\"", "default: u\"held\""}));
    take(qDebug());
    QDebug(qDebug() << 1) << 2;
    qDebug("%d", Numbers::kWithoutDefinition);
    qInfo(net(), "%d %s", Numbers::kWithoutDefinition, "text");
    EXPECT_EQ(seen(), (Lines{"default: u\"taken\"", "default: u\"1 2\"", "default: 5", "net: 5 \"text\""}));
}

}  // namespace
