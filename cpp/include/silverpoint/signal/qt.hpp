// An inbox for a thread with a Qt event loop (Qt 6 or 5, Core only).
//
//   silverpoint::qt_inbox inbox;                        // made in the thread that is to receive: the GUI's
//   sensor.connect_queued(inbox, [&](double value) { chart.add(value); });
//
// One posted event wakes the loop for a batch of any size. A turn delivers for a limited time, and leaves the
// rest to the loop's next turn. So its timers and windows are served no matter how much is sent.
#pragma once

#include <QtCore/QCoreApplication>
#include <QtCore/QEvent>
#include <QtCore/QObject>
#include <QtCore/QTimerEvent>

#include "inbox.hpp"

namespace silverpoint {

namespace signaling {

// Before the inbox, so that it exists as long as emitters may post to it.
class qt_target : public QObject {
  public:
    void post() { QCoreApplication::postEvent(this, new QEvent(type())); }
    void deliver_to(std::function<void()> drain) { drain_ = std::move(drain); }

  protected:
    bool event(QEvent* got) override {
        if (got->type() == QEvent::Timer && timer_ != 0) {
            // Qt does not deliver a timer's event within that timer's event. A receiver that runs an event
            // loop of its own (a dialogue) would get nothing in it. So each turn has a timer of its own.
            killTimer(timer_);
            tick();
        } else if (got->type() != type()) {
            return QObject::event(got);
        }
        if (drain_) drain_();
        return true;
    }

    /// Drains every `interval` from now on.
    void tick_every(std::chrono::milliseconds interval) {
        interval_ = interval;
        tick();
    }

  private:
    void tick() { timer_ = startTimer(static_cast<int>(interval_.count()), Qt::PreciseTimer); }
    static QEvent::Type type() {
        static const auto mine = static_cast<QEvent::Type>(QEvent::registerEventType());
        return mine;
    }
    std::function<void()> drain_;
    std::chrono::milliseconds interval_{0};
    int timer_ = 0;  // 0: none
};

}  // namespace signaling

/// An inbox that is drained by the event loop of the thread in which it was made. Make, use and destroy it
/// there.
/// Thread-safe: the thread that made it; any thread emits to it. Cost: to wake its thread, an event that is
/// posted to Qt's loop.
class qt_inbox : private signaling::qt_target, public inbox {
  public:
    /// Woken by emissions. `turn`: how long one turn of the loop delivers, before the loop has its own turn.
    explicit qt_inbox(std::chrono::nanoseconds turn = std::chrono::milliseconds(2))
        : inbox([this] { post(); }) {
        deliver_to([this, turn] { drain_for(turn); });
    }
    /// Not woken: the loop checks every `interval`, as often as there is something to draw. For latest values
    /// that are published faster than people can see, and queued events that may wait as long.
    static qt_inbox timed(std::chrono::milliseconds interval,
                          std::chrono::nanoseconds turn = std::chrono::milliseconds(2)) {
        return qt_inbox(interval, turn);
    }

  private:
    qt_inbox(std::chrono::milliseconds interval, std::chrono::nanoseconds turn) {
        deliver_to([this, turn] { drain_for(turn); });
        tick_every(interval);
    }
};

/// Ends a connection when a Qt object dies: for receivers that have no silverpoint::receiver.
///
///   silverpoint::until_destroyed(this, measured.connect_queued(inbox, [this](double value) { show(value);
///   }));
///
/// That is when ~QObject runs, behind the destructors of the derived classes: for receivers that their own
/// thread calls, from its event loop. What other threads call (direct connections) must end before: by a
/// silverpoint::receiver, or a scoped_connection, as the last member.
/// Thread-safe: any thread, while the object lives. Cost: a connection of Qt's.
inline connection until_destroyed(QObject* object, connection made) {
    QObject::connect(object, &QObject::destroyed, [made] { made.disconnect(); });
    return made;
}

}  // namespace silverpoint
