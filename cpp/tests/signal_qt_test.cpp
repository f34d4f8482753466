// Signals that a Qt event loop receives.
#include <gtest/gtest.h>

#include <QtCore/QCoreApplication>
#include <QtCore/QEventLoop>
#include <QtCore/QThread>
#include <QtCore/QTimer>
#include <silverpoint/signal.hpp>
#include <silverpoint/signal/qt.hpp>
#include <thread>

namespace {

using silverpoint::qt_inbox;
using silverpoint::signal;

// Runs a loop in this thread until the test is content; a test that never is ends by its time limit.
class Qt : public testing::Test {
  protected:
    int count_ = 0;
    char name_[5] = "test";
    char* names_[2] = {name_, nullptr};
    QCoreApplication application_{count_, names_};
};

TEST_F(Qt, EveryQueuedEventArrivesInTheLoopsThread) {
    signal<unsigned> sent;
    qt_inbox here;
    constexpr unsigned all = 100000;
    unsigned next = 0;
    bool right = true;
    QThread* const mine = QThread::currentThread();
    sent.connect_queued(here, [&](unsigned number) {
        right = right && number == next && QThread::currentThread() == mine;
        if (++next == all) application_.quit();
    });
    std::thread sender([&] {
        for (unsigned i = 0; i < all; ++i) sent(i);
    });
    application_.exec();
    sender.join();
    EXPECT_TRUE(right);
    EXPECT_EQ(next, all);
}

TEST_F(Qt, OneTurnIsLimitedSoThatTimersRun) {
    // The receiver needs longer for what is queued than the timer waits, which comes in between nevertheless.
    signal<unsigned> sent;
    qt_inbox here(std::chrono::milliseconds(1));
    unsigned delivered = 0, at_timer = 0;
    sent.connect_queued(here, [&](unsigned) {
        std::this_thread::sleep_for(std::chrono::microseconds(500));
        if (++delivered == 200) application_.quit();
    });
    for (unsigned i = 0; i < 200; ++i) sent(i);
    QTimer::singleShot(5, [&] { at_timer = delivered; });
    application_.exec();
    EXPECT_EQ(delivered, 200u);
    EXPECT_LT(at_timer, 200u);
}

// A device that speaks a million times a second, for a second or until the loop has had its timer. The loop
// has its timer beside every event.
TEST_F(Qt, AMillionEventsASecondLeaveTheLoopItsTimer) {
    signal<unsigned> sent;
    qt_inbox here;
    constexpr unsigned kAll = 1'000'000, kEnd = ~0u;
    // A machine that has other things to do lets the loop wait; not for as long as the device waits for it.
    constexpr auto kPatience = std::chrono::seconds(300);
    unsigned next = 0;
    std::atomic<unsigned> ticks{0}, all{0};
    bool is_in_order = true;
    sent.connect_queued(here, [&](unsigned number) {
        if (number == kEnd) return application_.quit();
        is_in_order = is_in_order && number == next++;
    });
    QTimer timer;
    QObject::connect(&timer, &QTimer::timeout, [&] { ++ticks; });
    timer.start(5);
    std::thread sender([&] {
        const auto begin = std::chrono::steady_clock::now();
        const auto is_heard = [&] {
            return ticks >= 10 || std::chrono::steady_clock::now() > begin + kPatience;
        };
        unsigned i = 0;
        for (; i < kAll || !is_heard(); ++i) {
            while (std::chrono::steady_clock::now() < begin + std::chrono::microseconds(i)) continue;
            sent(i);
        }
        all = i;
        sent(kEnd);
    });
    application_.exec();
    sender.join();
    EXPECT_TRUE(is_in_order);
    EXPECT_EQ(next, all.load());
    // (Of 200, where nothing else runs on the machine.)
    EXPECT_GE(ticks.load(), 10u);
}

TEST_F(Qt, TheLatestIsSeenByALoopWithATimer) {
    signal<unsigned> published;
    qt_inbox here = qt_inbox::timed(std::chrono::milliseconds(1));
    constexpr unsigned all = 100000;
    unsigned last = 0, reads = 0;
    published.connect_latest(here, [&](unsigned value) {
        EXPECT_GT(value, last);
        last = value;
        ++reads;
        if (value == all) application_.quit();
    });
    std::thread publisher([&] {
        for (unsigned i = 1; i <= all; ++i) published(i);
    });
    application_.exec();
    publisher.join();
    EXPECT_EQ(last, all);
    EXPECT_LE(reads, all);
}

TEST_F(Qt, AConnectionEndsWithAnObjectOfQts) {
    signal<int> sent;
    qt_inbox here;
    int got = 0;
    const auto receive = [&](int value) { got += value; };
    auto* const object = new QObject;
    const auto queued = silverpoint::until_destroyed(object, sent.connect_queued(here, receive));
    silverpoint::until_destroyed(object, sent.connect_latest(here, receive));
    silverpoint::until_destroyed(object, sent.connect(receive)).disconnect();
    sent(1);
    here.drain();
    EXPECT_EQ(got, 2);
    sent(10);
    delete object;
    sent(100);
    here.drain();
    EXPECT_EQ(got, 2) << "what waited is not delivered any more";
    EXPECT_FALSE(queued.connected());
    EXPECT_EQ(sent.connected(), 0u);
}

// A dialogue within a receiver: Qt does not deliver a timer's event within that timer's event.
TEST_F(Qt, ATimedInboxDeliversInALoopWithinItsReceiver) {
    qt_inbox here = qt_inbox::timed(std::chrono::milliseconds(1));
    signal<int> sent;
    int within = 0;
    sent.connect_queued(here, [&](int value) {
        if (value == 2) {
            QEventLoop deeper;
            sent.connect_queued(here, [&](int inner) {
                if (inner == 4) deeper.quit();
            });
            sent(4);
            deeper.exec();
        } else if (value == 1) {
            QEventLoop dialogue;
            sent.connect_queued(here, [&](int inner) {
                ++within;
                if (inner == 3) dialogue.quit();
            });
            sent(2);
            sent(3);
            dialogue.exec();
            application_.quit();
        }
    });
    sent(1);
    application_.exec();
    EXPECT_EQ(within, 3);
}

TEST_F(Qt, TheInboxMayDieWhileOthersEmit) {
    signal<unsigned> sent;
    std::atomic<bool> over{false};
    std::thread sender([&] {
        for (unsigned i = 0; !over.load(); ++i) sent(i);
    });
    for (int i = 0; i < 50; ++i) {
        qt_inbox brief;
        sent.connect_queued(brief, [](unsigned) {},
                            {.capacity = 8, .when_full = silverpoint::overflow::drop_oldest});
        sent.connect_latest(brief, [](unsigned) {});
        application_.processEvents();
    }
    over.store(true);
    sender.join();
    EXPECT_EQ(sent.connected(), 0u);
}

}  // namespace
