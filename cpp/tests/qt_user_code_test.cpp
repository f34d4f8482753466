// Code of the program's within tracepoints of Qt's kind: values of own types in Qt's containers, and
// operators << of QDebug. However control leaves them, the thread goes on recording.
#include <QDebug>
#include <QList>
#include <QMap>
#include <functional>
#include <silverpoint/qt.hpp>
#include <silverpoint/qt/debug.hpp>

#include "support/traced.hpp"
#include "support/ways.hpp"

namespace own {

struct Leaves {
    ways::Way way;
    int value() const { return ways::leave(way); }
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

using ways::Way;

void leave_again_and_again(Way way, const std::function<void()>& record) {
    traced::take();
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(ways::leaves(way, record));
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

TEST(QtWayOut, OfWhatAListHolds) {
    for (const Way way : ways::kForGood)
        leave_again_and_again(way, [way] { SP_INFO("{}", QList<own::Leaves>{{way}}); });
}
TEST(QtWayOut, OfWhatAMapHolds) {
    for (const Way way : ways::kForGood)
        leave_again_and_again(way, [way] { SP_INFO("{}", QMap<int, own::Leaves>{{1, {way}}}); });
}
TEST(QtWayOut, OfAnOperatorOfQDebug) {
    for (const Way way : ways::kForGood)
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
