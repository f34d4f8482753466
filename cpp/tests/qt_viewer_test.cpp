// The viewer, in a window: what a program has recorded is seen, filtered and taken apart.
//
// SILVERPOINT_SCREENSHOT=docs/qt-viewer.png makes the picture of the guide.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <QtGui/QScreen>
#include <QtGui/QWindow>
#include <QtTest/QtTest>
#include <QtWidgets/QApplication>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "../examples/qt_viewer/viewer.hpp"
#include "silverpoint/logger.hpp"
#include "silverpoint/silverpoint.hpp"
#include "support/scratch.hpp"

struct item {
    std::string name;
    double price;
    int count;
};
SP_STRUCT(item, name, price, count)

namespace {

namespace fs = std::filesystem;

bool until(const std::function<bool()>& is_so) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(300);
    while (!is_so() && std::chrono::steady_clock::now() < end) {
        QCoreApplication::processEvents();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return is_so();
}

// What a shop records: twelve records for each order.
constexpr int orders = 500;
void place_order(int id) {
    const std::vector<item> items{{"silver wire", 12.5, 2}, {"drawing board", 49.0, 1}, {"gesso", 8.75, 3}};
    const std::map<std::string, std::string> headers{{"accept", "application/json"},
                                                     {"user-agent", "shop/2.4"}};
    const std::string user = id % 3 == 0 ? "ada" : id % 3 == 1 ? "grace" : "linus";
    SP_LOG(info, "shop::order", "order {} of {} with {} items", id, user, items.size());
    SP_LOG(debug, "net::http", "POST /orders/{} from 192.0.2.{}", id, id % 250);
    SP_LOG(trace, "net::http", "headers {}", headers);
    SP_LOG(debug, "db::pool", "connection {} of 8 taken after {}", id % 8,
           std::chrono::microseconds(40 + id % 90));
    for (const auto& each : items) SP_LOG(trace, "shop::stock", "{} × {} reserved", each.count, each.name);
    if (id % 7 == 3)
        SP_LOG(warn, "db::pool", "connection {} is slow: {}", id % 8, std::chrono::milliseconds(180 + id));
    else
        SP_LOG(debug, "db::pool", "committed in {}", std::chrono::microseconds(350 + id));
    if (id % 19 == 18)
        SP_LOG(error, "shop::payment", "card of {} was declined: code {}", user, 51);
    else
        SP_LOG(info, "shop::payment", "card of {} charged: {:.2f} €", user, 100.25 + id);
    if (id == orders - 7)
        SP_LOG(fatal, "shop::stock", "the shelf for {} is gone", "gesso");
    else
        SP_LOG(trace, "gui::paint", "frame {} drawn in {}", id, std::chrono::microseconds(900 + id));
    SP_EVENT("order.placed", id, user, items, headers);
    SP_LOG(info, "shop::order", "order {} done", id);
}

class QtViewer : public testing::Test {
  protected:
    void SetUp() override {
        QApplication::setStyle(QStringLiteral("Fusion"));
        directory_ = scratch_directory("viewer");
        file_ = QString::fromStdString((directory_ / "shop.silver").string());
        ASSERT_TRUE(silverpoint::start(silverpoint::logger_config("trace")
                                           .policy("block=forever")
                                           .to(silverpoint::sink::trace_file(file_.toStdString()))));
        pthread_setname_np(pthread_self(), "orders");
        for (int id = 0; id < orders; ++id) place_order(id);
        ASSERT_TRUE(silverpoint::flush());
    }
    void TearDown() override {
        silverpoint::stop();
        fs::remove_all(directory_);
    }

    void filter(viewer& window, const char* text) {
        window.filter().setFocus();
        window.filter().selectAll();
        QTest::keyClicks(&window.filter(), QString::fromUtf8(text));
        QTest::keyClick(&window.filter(), Qt::Key_Return);
    }

    int count_ = 0;
    char name_[5] = "test";
    char* names_[2] = {name_, nullptr};
    QApplication application_{count_, names_};
    fs::path directory_;
    QString file_;
};

// Whether a picture has pixels of nearly this colour.
int pixels_like(const QImage& picture, QRgb wanted) {
    int found = 0;
    for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x) {
            const QRgb is = picture.pixel(x, y);
            found += std::abs(qRed(is) - qRed(wanted)) + std::abs(qGreen(is) - qGreen(wanted)) +
                         std::abs(qBlue(is) - qBlue(wanted)) <
                     12;
        }
    return found;
}

TEST_F(QtViewer, ShowsFiltersAndTakesApartWhatAProgramRecords) {
    using silverpoint::reading::state;
    viewer window;
    QString error;
    ASSERT_TRUE(window.open({file_}, true, &error)) << error.toStdString();
    window.move(0, 0);
    window.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&window, 60'000));

    // Everything of sites: that a thread waited for room is a record, too.
    filter(window, "-c shop -c net -c db -c gui");
    const auto rows = [&] { return window.model().rowCount(); };
    EXPECT_TRUE(until([&] { return rows() > orders; }));
    filter(window, "-l warn -c db");
    ASSERT_TRUE(until([&] { return rows() == 71 || rows() == 72; })) << rows();
    EXPECT_TRUE(window.mistake().isHidden());
    EXPECT_TRUE(until([&] {
        return window.model().index(0, records_model::message).data().toString() ==
               "connection 3 is slow: 183 ms";
    })) << window.model().index(0, records_model::message).data().toString().toStdString();

    // A mistake is shown beneath the line, and changes nothing.
    filter(window, "-l wrn");
    EXPECT_FALSE(window.mistake().isHidden());
    EXPECT_TRUE(window.mistake().text().startsWith("column 4: 'wrn' is no level"))
        << window.mistake().text().toStdString();
    EXPECT_TRUE(rows() == 71 || rows() == 72);
    EXPECT_EQ(window.mistake().textFormat(), Qt::PlainText);  // it quotes what was typed

    // The last orders, the event of one of them taken apart.
    filter(window, "id = 490");
    ASSERT_TRUE(until([&] { return rows() == 1; }));
    window.table().selectRow(0);
    ASSERT_TRUE(until([&] { return window.values().model() != nullptr; }));
    const QModelIndex root = window.values().rootIndex();
    ASSERT_EQ(window.model().rowCount(root), 4);
    const QModelIndex items = window.model().index(2, 0, root);
    EXPECT_EQ(items.data(), "items");
    EXPECT_EQ(window.model().index(1, 1, window.model().index(0, 0, items)).data(), "12.5");
    EXPECT_TRUE(window.summary().text().contains("order.placed")) << window.summary().text().toStdString();

    // All again, at the end; what comes is followed.
    window.filter().clear();
    ASSERT_TRUE(until([&] { return rows() >= orders * 12; }));
    window.end().setChecked(true);
    const int before = rows();
    place_order(orders);
    ASSERT_TRUE(silverpoint::flush());
    ASSERT_TRUE(until([&] { return rows() >= before + 12; }));
    const int last = rows() - 1;
    ASSERT_TRUE(until([&] { return window.model().is_fetched(last); }));
    EXPECT_EQ(window.model().index(last, records_model::message).data(), "order 500 done");
    EXPECT_TRUE(until([&] { return window.table().rowAt(window.table().viewport()->height() - 4) == last; }));
    EXPECT_TRUE(until([&] { return window.status().text().contains("live"); }))
        << window.status().text().toStdString();

    // What is on the screen: rows in the colours of their levels.
    window.end().setChecked(false);
    int shown = -1;
    window.model().set_waiting(true);
    for (int row = last; row >= 0 && shown < 0; --row)
        if (window.model().index(row, 0).data(records_model::level_role).toInt() == 5) shown = row;
    ASSERT_GE(shown, 0);
    window.table().scrollTo(window.model().index(shown - 16, 0), QAbstractItemView::PositionAtTop);
    for (int row = shown; row < last; ++row)
        if (window.model().index(row, records_model::message).data().toString().startsWith("order.placed")) {
            window.table().selectRow(row);
            break;
        }
    ASSERT_TRUE(until([&] { return window.values().model() != nullptr; }));
    QImage picture;
    EXPECT_TRUE(until([&] {
        // What the window system shows; without one what the window draws.
        const bool is_real = QGuiApplication::platformName() == QLatin1String("xcb");
        const QPixmap seen =
            is_real ? window.screen()->grabWindow(0, 0, 0, window.width(), window.height()) : window.grab();
        picture = seen.toImage();
        return pixels_like(picture, 0xFFA40E26) > 2000 && pixels_like(picture, 0xFFFFF3D6) > 1000;
    })) << "no row is shown as fatal, or none as a warning";
    if (const char* const file = std::getenv("SILVERPOINT_SCREENSHOT")) {
        EXPECT_TRUE(picture.save(QString::fromLocal8Bit(file)));
    }
}

}  // namespace
