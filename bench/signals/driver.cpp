// What an event costs on its way to a receiver: signals of Silverpoint, of Qt and of Boost, and a queue
// behind a mutex.
//
//   driver floor COUNT       what the machine takes for the steps on the way
//   driver direct COUNT      emissions to one receiver in the same thread, all candidates in turn
//   driver cross COUNT       COUNT events to a receiver in another thread
//   driver latest COUNT      the newest value, to one, two and four readers that look every millisecond, and
//   to one that is waked
//   driver stalled COUNT     COUNT events to a receiver that does not come: what they take of memory
//   driver timer SECONDS     how late a timer of 5 ms is in an event loop, with a sender of a million events
//   a second
//
// Prints a JSON object a figure. Each receiver counts what it gets and adds it up. In the same thread it
// keeps it, where the sum would take longer than the call. If an event is missing the program ends with an
// error. A row `no signal: …` does the same work in the least way: what this machine takes at least.
#include <unistd.h>

#include <QtCore/QCoreApplication>
#include <QtCore/QElapsedTimer>
#include <QtCore/QObject>
#include <QtCore/QThread>
#include <QtCore/QTimer>
#include <algorithm>
#include <boost/signals2.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <memory>
#include <mutex>
#include <silverpoint/signal.hpp>
#include <silverpoint/signal/qt.hpp>
#include <thread>
#include <vector>

#include "floors.hpp"

using floors::Clock;
using floors::since;

class Sender : public QObject {
    Q_OBJECT
  Q_SIGNALS:
    void sent(uint value);
};
#include "driver.moc"

namespace {

[[noreturn]] void fail(const char* who, const char* what) {
    std::fprintf(stderr, "%s: %s\n", who, what);
    std::exit(1);
}

struct Count {
    std::uint64_t events = 0, sum = 0;
    void add(unsigned value) {
        ++events;
        sum += value;
    }
    void check(const char* who, std::uint64_t all) const {
        if (events != all || sum != all * (all - 1) / 2) fail(who, "not every event has arrived");
    }
};

void figure(const char* part, const char* who, const char* what, double value) {
    std::printf("{\"part\": \"%s\", \"who\": \"%s\", \"what\": \"%s\", \"value\": %.2f}\n", part, who, what,
                value);
}

double resident_kib() {
    std::ifstream file("/proc/self/statm");
    double all, resident;
    file >> all >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
}

// What a batch of emissions has brought. A place for each value: a sum would be a chain through memory, in
// which every call waits for the one before.
class Kept {
  public:
    static constexpr unsigned size = 4096;

    void add(unsigned value) { values_[value % size] = value; }
    void check(const char* who, unsigned first) {
        for (unsigned i = first; i < first + size; ++i)
            if (values_[i % size] != i) fail(who, "not every event has arrived");
    }

  private:
    std::vector<unsigned> values_ = std::vector<unsigned>(size, ~0u);
};

// Nanoseconds a call of `emission`. (A function for each candidate: in one with all of them registers run
// out, and the loops count in memory.)
template <class Emission>
[[gnu::noinline]] double batch(unsigned first, Emission emission) {
    const auto begin = Clock::now();
    for (unsigned i = first; i < first + Kept::size; ++i) emission(i);
    return since(begin) / Kept::size;
}

// In batches, the candidates in turn: a slow moment of the machine meets everybody. The median of the
// batches.
void direct(unsigned count) {
    const unsigned batches = std::max(1u, count / Kept::size);
    Kept ours, qt, boost, plain;
    Count sum;
    silverpoint::signal<unsigned> own;
    own.connect([&](unsigned value) { ours.add(value); });
    Sender sender;
    QObject receiver;
    QObject::connect(
        &sender, &Sender::sent, &receiver, [&](uint value) { qt.add(value); }, Qt::DirectConnection);
    boost::signals2::signal<void(unsigned)> theirs;
    theirs.connect([&](unsigned value) { boost.add(value); });
    // What the receiver itself costs, called by somebody who does not know it.
    void (*volatile keeps)(Kept&, unsigned) = [](Kept& to, unsigned value) { to.add(value); };
    void (*volatile adds)(Count&, unsigned) = [](Count& to, unsigned value) { to.add(value); };
    std::vector<double> times[5];
    const char* const names[] = {"silverpoint direct", "QObject direct", "boost::signals2",
                                 "no signal: a call through a pointer",
                                 "no signal: the same, of a receiver that adds up"};
    for (unsigned k = 0; k < batches; ++k) {
        const unsigned first = k * Kept::size;
        times[0].push_back(batch(first, [&](unsigned i) { own(i); }));
        times[1].push_back(batch(first, [&](unsigned i) { Q_EMIT sender.sent(i); }));
        times[2].push_back(batch(first, [&](unsigned i) { theirs(i); }));
        times[3].push_back(batch(first, [&](unsigned i) { keeps(plain, i); }));
        times[4].push_back(batch(first, [&](unsigned i) { adds(sum, i); }));
        ours.check(names[0], first);
        qt.check(names[1], first);
        boost.check(names[2], first);
        plain.check(names[3], first);
    }
    sum.check(names[4], std::uint64_t{batches} * Kept::size);
    for (int i = 0; i < 5; ++i) {
        const double median = floors::middle(times[i]);
        figure("direct", names[i], "emit", median);
        double total = 0;
        for (const double each : times[i]) total += each * Kept::size;
        figure("direct", names[i], "total", total);
    }
}

// `receive(ready)` runs in a thread of its own until all has come; `emission(i)` in this one.
template <class Receive, class Emission>
void cross(const char* who, unsigned count, Receive&& receive, Emission&& emission) {
    std::atomic<bool> ready{false};
    std::thread receiver([&] { receive(ready); });
    while (!ready.load()) std::this_thread::yield();
    const auto begin = Clock::now();
    for (unsigned i = 0; i < count; ++i) emission(i);
    const double sent = since(begin);
    receiver.join();
    const double all = since(begin);
    figure("cross", who, "emit", sent / count);
    figure("cross", who, "event", all / count);
    figure("cross", who, "total", all);
}

class MutexQueue {
  public:
    void push(unsigned value) {
        {
            const std::lock_guard hold(lock_);
            events_.push_back(value);
        }
        came_.notify_one();
    }
    void wait_and_take(std::deque<unsigned>& to) {
        std::unique_lock hold(lock_);
        came_.wait(hold, [&] { return !events_.empty(); });
        to.swap(events_);
    }

  private:
    std::mutex lock_;
    std::condition_variable came_;
    std::deque<unsigned> events_;
};

void cross_all(unsigned count, const char* loop) {
    {
        silverpoint::signal<unsigned> own;
        Count got;
        cross(
            "silverpoint queued, poll", count,
            [&](std::atomic<bool>& ready) {
                silverpoint::poll_inbox inbox;
                own.connect_queued(inbox, [&](unsigned value) { got.add(value); });
                ready.store(true);
                while (got.events < count) inbox.wait_and_drain();
            },
            own);
        got.check("silverpoint queued, poll", count);
    }
    {
        silverpoint::signal<unsigned> own;
        Count got;
        const std::string who = std::string("silverpoint queued, Qt's loop") + loop;
        cross(
            who.c_str(), count,
            [&](std::atomic<bool>& ready) {
                QEventLoop events;
                silverpoint::qt_inbox inbox;
                own.connect_queued(inbox, [&](unsigned value) {
                    got.add(value);
                    if (got.events == count) events.quit();
                });
                ready.store(true);
                events.exec();
            },
            own);
        got.check(who.c_str(), count);
    }
    // Qt's and the mutex's queues have no bound: what would not fit into memory is not sent.
    const unsigned fewer = std::min(count, 2000000u);
    {
        Sender sender;
        Count got;
        const std::string who = std::string("QObject queued") + loop;
        cross(
            who.c_str(), fewer,
            [&](std::atomic<bool>& ready) {
                QEventLoop events;
                QObject receiver;
                QObject::connect(
                    &sender, &Sender::sent, &receiver,
                    [&](uint value) {
                        got.add(value);
                        if (got.events == fewer) events.quit();
                    },
                    Qt::QueuedConnection);
                ready.store(true);
                events.exec();
            },
            [&](unsigned value) { Q_EMIT sender.sent(value); });
        got.check(who.c_str(), fewer);
    }
    {
        MutexQueue queue;
        Count got;
        cross(
            "mutex and condition", fewer,
            [&](std::atomic<bool>& ready) {
                std::deque<unsigned> batch;
                ready.store(true);
                while (got.events < fewer) {
                    queue.wait_and_take(batch);
                    for (unsigned value : batch) got.add(value);
                    batch.clear();
                }
            },
            [&](unsigned value) { queue.push(value); });
        got.check("mutex and condition", fewer);
    }
    {
        const auto ring = std::make_unique<floors::Ring>();
        Count got;
        const char* const who = "no signal: a ring of one writer and one reader that never sleeps";
        cross(
            who, count,
            [&](std::atomic<bool>& ready) {
                ready.store(true);
                while (got.events < count) got.add(ring->take());
            },
            [&](unsigned value) { ring->push(value); });
        got.check(who, count);
    }
}

// One that reads the newest value in a thread of its own, `look` for look, until it is stopped.
template <class Inbox>
class LatestReader {
  public:
    template <class Look>
    LatestReader(silverpoint::signal<unsigned>& of, Look look)
        : thread_([this, &of, look] {
              Inbox inbox;
              of.connect_latest(inbox, [this](unsigned value) {
                  newer_ = newer_ && (reads_ == 0 || value > last_);
                  last_ = value;
                  ++reads_;
              });
              ready_.store(true);
              for (bool more = true; more; ++looks_) {
                  more = !over_.load();
                  look(inbox);
              }
          }) {
        while (!ready_.load()) std::this_thread::yield();
    }
    void stop() {
        over_.store(true);
        thread_.join();
    }
    bool has_seen(unsigned last) const { return newer_ && last_ == last; }
    std::uint64_t reads() const { return reads_; }
    std::uint64_t looks() const { return looks_; }

  private:
    std::atomic<bool> ready_{false}, over_{false};
    std::uint64_t reads_ = 0, looks_ = 0;
    unsigned last_ = 0;
    bool newer_ = true;
    std::thread thread_;  // the last: it uses the others
};

template <class Inbox, class Look>
void latest_of(const char* who, unsigned count, unsigned receivers, Look look) {
    silverpoint::signal<unsigned> own;
    std::vector<std::unique_ptr<LatestReader<Inbox>>> readers;
    for (unsigned i = 0; i < receivers; ++i)
        readers.push_back(std::make_unique<LatestReader<Inbox>>(own, look));
    std::vector<double> times;
    constexpr unsigned batches = 40;
    const unsigned each = count / batches;
    for (unsigned k = 0; k < batches; ++k) {
        const auto begin = Clock::now();
        for (unsigned i = k * each; i < (k + 1) * each; ++i) own(i);
        times.push_back(since(begin) / each);
    }
    std::uint64_t reads = 0, looks = 0;
    for (const auto& one : readers) {
        one->stop();
        if (!one->has_seen(batches * each - 1)) fail(who, "not the newest value");
        reads += one->reads();
        looks += one->looks();
    }
    figure("latest", who, "emit", floors::middle(times));
    figure("latest", who, "emit and receiver", floors::middle(times) / receivers);
    figure("latest", who, "reads", static_cast<double>(reads));
    figure("latest", who, "looks", static_cast<double>(looks));
}

void latest(unsigned count) {
    const auto every_ms = [](silverpoint::inbox& inbox) {
        inbox.drain();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    // (A loop that sleeps until it is waked, and then draws no more often than once in a millisecond.)
    const auto waked = [](silverpoint::poll_inbox& inbox) {
        inbox.wait_and_drain(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    latest_of<silverpoint::inbox>("silverpoint latest", count, 1, every_ms);
    latest_of<silverpoint::inbox>("silverpoint latest, 2 receivers", count, 2, every_ms);
    latest_of<silverpoint::inbox>("silverpoint latest, 4 receivers", count, 4, every_ms);
    latest_of<silverpoint::poll_inbox>("silverpoint latest, waked by poll", count, 1, waked);
}

void floor_of_all(unsigned count) {
    figure("floor", "a line of memory into another core's cache", "ns", floors::line_transfer(count));
    figure("floor", "membarrier, beside a thread that runs", "ns", floors::barrier(count / 10));
    const floors::WakeUp wake = floors::wake_up(count / 100);
    figure("floor", "waking a thread that sleeps at an eventfd: the call", "ns", wake.call);
    figure("floor", "waking a thread that sleeps at an eventfd: until it runs", "ns", wake.until_it_runs);
}

void stalled(unsigned count) {
    {
        silverpoint::signal<unsigned> own;
        silverpoint::inbox inbox;
        std::uint64_t got = 0;
        const auto made = own.connect_queued(inbox, [&](unsigned) { ++got; },
                                             {.when_full = silverpoint::overflow::drop_oldest});
        const double before = resident_kib();
        for (unsigned i = 0; i < count; ++i) own(i);
        figure("stalled", "silverpoint queued", "KiB", resident_kib() - before);
        inbox.drain();
        if (got + made.counted().dropped != count) fail("silverpoint", "not every event is accounted for");
    }
    {
        MutexQueue queue;
        const double before = resident_kib();
        for (unsigned i = 0; i < count; ++i) queue.push(i);
        figure("stalled", "mutex and condition", "KiB", resident_kib() - before);
    }
    {
        Sender sender;
        QObject receiver;
        Count got;
        QObject::connect(
            &sender, &Sender::sent, &receiver, [&](uint value) { got.add(value); }, Qt::QueuedConnection);
        const double before = resident_kib();
        for (unsigned i = 0; i < count; ++i) Q_EMIT sender.sent(i);
        figure("stalled", "QObject queued", "KiB", resident_kib() - before);
        QCoreApplication::processEvents();
        got.check("QObject", count);
    }
}

// A sender that sends one event a microsecond by the clock, and a timer beside it in the receiving loop.
template <class Connect, class Emission>
void timer(const char* who, double seconds, const std::uint64_t* got, Connect&& connect,
           Emission&& emission) {
    std::atomic<bool> over{false};
    std::uint64_t sent = 0;
    QEventLoop events;
    std::vector<double> late;
    auto due = Clock::now();
    QTimer tick;
    tick.setTimerType(Qt::PreciseTimer);
    QObject::connect(&tick, &QTimer::timeout, [&] {
        const double now = since(due);
        late.push_back(std::abs(now - 5e6) / 1e3);
        due = Clock::now();
    });
    connect([&] {
        QTimer::singleShot(static_cast<int>(seconds * 1000), [&] {
            over.store(true);
            events.quit();
        });
        std::thread sender;
        if (got != nullptr)
            sender = std::thread([&] {
                const auto begin = Clock::now();
                for (unsigned i = 0; !over.load(std::memory_order_relaxed); ++i) {
                    while (since(begin) < 1000.0 * i) {
                    }
                    emission(i);
                    ++sent;
                }
            });
        due = Clock::now();
        tick.start(5);
        events.exec();
        if (got != nullptr) sender.join();
    });
    std::sort(late.begin(), late.end());
    if (late.size() < 4) late.resize(4, seconds * 1e6);  // the loop has hardly turned
    figure("timer", who, "median", late[late.size() / 2]);
    figure("timer", who, "p99", late[late.size() * 99 / 100]);
    figure("timer", who, "max", late.back());
    figure("timer", who, "ticks", static_cast<double>(late.size()));
    figure("timer", who, "sent", static_cast<double>(sent));
    if (got == nullptr) return;
    if (*got == 0) fail(who, "nothing has arrived");
    figure("timer", who, "arrived", static_cast<double>(*got));
}

void timers(double seconds) {
    timer(
        "no sender", seconds, nullptr, [](auto&& run) { run(); }, [](unsigned) {});
    {
        silverpoint::signal<unsigned> own;
        std::uint64_t got = 0;
        timer(
            "silverpoint queued", seconds, &got,
            [&](auto&& run) {
                silverpoint::qt_inbox inbox;
                own.connect_queued(inbox, [&](unsigned) { ++got; });
                run();
            },
            own);
    }
    {
        silverpoint::signal<unsigned> own;
        std::uint64_t got = 0;
        timer(
            "silverpoint latest, every 16 ms", seconds, &got,
            [&](auto&& run) {
                auto inbox = silverpoint::qt_inbox::timed(std::chrono::milliseconds(16));
                own.connect_latest(inbox, [&](unsigned) { ++got; });
                run();
            },
            own);
    }
    {
        Sender sender;
        std::uint64_t got = 0;
        timer(
            "QObject queued", seconds, &got,
            [&](auto&& run) {
                QObject receiver;
                QObject::connect(
                    &sender, &Sender::sent, &receiver, [&](uint) { ++got; }, Qt::QueuedConnection);
                run();
            },
            [&](unsigned value) { Q_EMIT sender.sent(value); });
    }
}

}  // namespace

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    const char* const part = argc == 3 ? argv[1] : "";
    const double size = argc == 3 ? std::atof(argv[2]) : 0;
    const char* const loop = qEnvironmentVariableIsSet("QT_NO_GLIB") ? " (without GLib)" : " (GLib)";
    if (std::strcmp(part, "floor") == 0)
        floor_of_all(static_cast<unsigned>(size));
    else if (std::strcmp(part, "direct") == 0)
        direct(static_cast<unsigned>(size));
    else if (std::strcmp(part, "cross") == 0)
        cross_all(static_cast<unsigned>(size), loop);
    else if (std::strcmp(part, "latest") == 0)
        latest(static_cast<unsigned>(size));
    else if (std::strcmp(part, "stalled") == 0)
        stalled(static_cast<unsigned>(size));
    else if (std::strcmp(part, "timer") == 0)
        timers(size);
    else {
        std::fprintf(stderr, "driver: floor, direct, cross, latest or stalled COUNT, or timer SECONDS\n");
        return 2;
    }
}
