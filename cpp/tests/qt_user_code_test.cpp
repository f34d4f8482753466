// Code of the program's within tracepoints of Qt's kind: values of own types in Qt's containers, and
// operators
// << of QDebug. Whatever leaves them, the thread goes on recording.
#include <pthread.h>
#include <setjmp.h>

#include <QDebug>
#include <QList>
#include <QMap>
#include <functional>
#include <silverpoint/qt.hpp>
#include <silverpoint/qt/debug.hpp>
#include <stdexcept>
#include <thread>

#include "support/traced.hpp"

namespace own {

enum class Way { kThrow, kThreadExit, kCancel, kJump };
thread_local sigjmp_buf back;

struct Leaves {
    Way way;
    int value() const {
        switch (way) {
            case Way::kThrow:
                throw std::runtime_error("left");
            case Way::kThreadExit:
                pthread_exit(nullptr);
            case Way::kCancel:
                pthread_cancel(pthread_self());
                pthread_testcancel();
                break;
            case Way::kJump:
                siglongjmp(back, 1);
        }
        return 0;
    }
};
inline QDebug operator<<(QDebug out, const Leaves& it) { return out << it.value(); }

// A getter that gives more or less each time.
struct Fickle {
    QString text() const {
        static int calls = 0;
        return QString(++calls * 37 % 300, QLatin1Char('x'));
    }
};

}  // namespace own

SP_STRUCT_OF(own::Leaves, (value, v.value()))
SP_STRUCT_OF(own::Fickle, (text, v.text()))

namespace {

using own::Way;

void leave_again_and_again(Way way, const std::function<void()>& record) {
    traced::take();
    const auto once = [&] {
        if (way == Way::kThrow) {
            EXPECT_THROW(record(), std::runtime_error);
        } else if (sigsetjmp(own::back, 1) == 0) {
            record();
            ADD_FAILURE() << "it came back";
        }
    };
    for (int i = 0; i < 10; ++i) {
        if (way == Way::kThrow || way == Way::kJump) {
            once();
        } else {
            pthread_t thread;
            const auto run = [](void* data) -> void* {
                (*static_cast<const std::function<void()>*>(data))();
                ADD_FAILURE() << "it came back";
                return nullptr;
            };
            ASSERT_EQ(pthread_create(&thread, nullptr, run, const_cast<std::function<void()>*>(&record)), 0);
            pthread_join(thread, nullptr);
        }
        SP_INFO("next {}", i);
    }
    int next = 0;
    for (const traced::Seen& one : traced::take()) {
        if (one.site.text != "next {}") continue;
        EXPECT_EQ(one.text, std::to_string(next++));
        EXPECT_EQ(one.record.lane, 0u);
    }
    EXPECT_EQ(next, 10);
}

constexpr Way kWays[] = {Way::kThrow, Way::kThreadExit, Way::kCancel, Way::kJump};

TEST(QtWayOut, OfWhatAListHolds) {
    for (const Way way : kWays)
        leave_again_and_again(way, [way] { SP_INFO("{}", QList<own::Leaves>{{way}}); });
}
TEST(QtWayOut, OfWhatAMapHolds) {
    for (const Way way : kWays)
        leave_again_and_again(way, [way] { SP_INFO("{}", QMap<int, own::Leaves>{{1, {way}}}); });
}
TEST(QtWayOut, OfAnOperatorOfQDebug) {
    for (const Way way : kWays)
        leave_again_and_again(way, [way] { qDebug() << "value" << own::Leaves{way}; });
}

TEST(QtFickle, IsWhole) {
    traced::take();
    for (int i = 0; i < 200; ++i) {
        SP_INFO("{} {}", QList<own::Fickle>(2), QMap<QString, own::Fickle>{{"a", {}}});
        SP_INFO("next {}", i);
        const auto all = traced::take();
        ASSERT_EQ(all.size(), 2u);
        EXPECT_EQ(all[1].text, std::to_string(i));
    }
}

}  // namespace
