// Records as a model of Qt's: of files, of filters, of a program that runs.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtCore/QCoreApplication>
#include <QtCore/QPersistentModelIndex>
#include <QtCore/QThread>
#include <QtTest/QAbstractItemModelTester>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "silverpoint/logger.hpp"
#include "silverpoint/qt/model.hpp"
#include "silverpoint/signal/qt.hpp"
#include "silverpoint/signal/records.hpp"
#include "silverpoint/silverpoint.hpp"
#include "support/scratch.hpp"

struct pixel {
    int x, y;
};
SP_STRUCT(pixel, x, y)

namespace {

namespace fs = std::filesystem;
using silverpoint::qt::records_model;
using state = silverpoint::reading::state;

QString text(const QAbstractItemModel& model, int row, int column, const QModelIndex& parent = {}) {
    return model.data(model.index(row, column, parent)).toString();
}

class QtModel : public testing::Test {
  protected:
    void SetUp() override { directory_ = scratch_directory("model"); }
    void TearDown() override {
        silverpoint::stop();
        fs::remove_all(directory_);
    }

    QString path(const char* name) const { return QString::fromStdString((directory_ / name).string()); }

    // A trace file with what `record` records.
    QString recorded(const std::function<void()>& record) {
        const QString file = path("app.silver");
        // All that is recorded is counted: nothing is dropped, however long the disk takes.
        EXPECT_TRUE(silverpoint::start(silverpoint::logger_config("trace")
                                           .policy("block=forever")
                                           .to(silverpoint::sink::trace_file(file.toStdString()))));
        record();
        EXPECT_TRUE(silverpoint::stop());
        return file;
    }
    QString numbers(int count) {
        return recorded([count] {
            for (int number = 0; number < count; ++number) {
                if (number % 10 == 0)
                    SP_WARN("number {}", number);
                else
                    SP_DEBUG("number {}", number);
            }
        });
    }

    // Lets the event loop run until something is so.
    static bool until(const std::function<bool()>& is_so) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(300);
        while (!is_so() && std::chrono::steady_clock::now() < end) {
            QCoreApplication::processEvents();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return is_so();
    }

    int count_ = 0;
    char name_[5] = "test";
    char* names_[2] = {name_, nullptr};
    QCoreApplication application_{count_, names_};
    fs::path directory_;
};

TEST_F(QtModel, ARecordIsARowAndItsValuesAreATreeBeneath) {
    const QString file = recorded([] {
        const std::map<std::string, std::vector<pixel>> drawn{{"line", {{1, 2}, {3, 4}}}, {"none", {}}};
        const double late = 0.5;
        SP_LOG(error, "gui::paint", "late by {}", late);
        SP_EVENT("drawn", drawn, late);
    });
    records_model model;
    model.set_waiting(true);
    QString error;
    ASSERT_TRUE(model.open({file}, {}, &error)) << error.toStdString();
    ASSERT_TRUE(until([&] { return model.rowCount() == 2; }));
    EXPECT_EQ(text(model, 0, records_model::level), "error");
    EXPECT_EQ(text(model, 0, records_model::category), "gui::paint");
    EXPECT_EQ(text(model, 0, records_model::message), "late by 0.5");
    EXPECT_EQ(text(model, 0, records_model::process), QStringLiteral("qt_model_test %1").arg(getpid()));
    EXPECT_TRUE(text(model, 0, records_model::place).startsWith("qt_model_test.cpp:"));
    EXPECT_EQ(model.headerData(records_model::message, Qt::Horizontal), "Message");
    const QModelIndex first = model.index(0, 0);
    EXPECT_EQ(first.data(records_model::level_role), 4);
    const QDateTime time = first.data(records_model::value_role).toDateTime();
    EXPECT_LT(std::abs(time.msecsTo(QDateTime::currentDateTime())), 3'600'000);
    EXPECT_EQ(first.data().toString().left(12), time.toString("HH:mm:ss.zzz"));
    EXPECT_EQ(first.data().toString().size(), 15);
    EXPECT_EQ(first.data(records_model::ns_role).toLongLong() / 1'000'000, time.toMSecsSinceEpoch());

    const QModelIndex second = model.index(1, 0);
    EXPECT_TRUE(model.hasChildren(second) && model.canFetchMore(second));
    EXPECT_EQ(model.rowCount(second), 0);
    model.fetchMore(second);
    EXPECT_FALSE(model.canFetchMore(second));
    ASSERT_EQ(model.rowCount(second), 2);
    EXPECT_EQ(text(model, 0, 0, second), "drawn");
    EXPECT_EQ(text(model, 1, 0, second), "late");
    EXPECT_EQ(model.index(1, 1, second).data(records_model::value_role), QVariant(0.5));
    EXPECT_FALSE(model.hasChildren(model.index(1, 0, second)));
    const QModelIndex drawn = model.index(0, 0, second), line = model.index(0, 0, drawn);
    EXPECT_EQ(model.rowCount(drawn), 2);
    EXPECT_EQ(line.data(), "line");
    const QModelIndex last = model.index(1, 0, line);
    EXPECT_EQ(text(model, 1, 1, line), "pixel{x: 3, y: 4}");
    EXPECT_EQ(text(model, 1, 2, line), "pixel");
    EXPECT_EQ(text(model, 1, 1, last), "4");
    EXPECT_EQ(model.parent(model.index(1, 1, last)), last);
    EXPECT_EQ(model.parent(last), line);
    EXPECT_EQ(model.parent(drawn), second);
    EXPECT_FALSE(model.parent(second).isValid());
    const QVariantMap map = model.index(0, 1, second).data(records_model::value_role).toMap();
    EXPECT_EQ(map.value("line").toList().at(1).toMap().value("x"), 3);
    EXPECT_TRUE(map.value("none").toList().isEmpty());
}

// The last value of a key was all that was left of it.
TEST_F(QtModel, EqualKeysOfAMapAreAllThere) {
    const QString file = recorded([] {
        const std::multimap<std::string, int> many{{"a", 1}, {"a", 2}, {"b", 3}};
        SP_EVENT("many", many);
    });
    records_model model;
    model.set_waiting(true);
    ASSERT_TRUE(model.open({file}));
    ASSERT_TRUE(until([&] { return model.rowCount() == 1; }));
    model.fetchMore(model.index(0, 0));
    const QVariantList pairs = model.index(0, 1, model.index(0, 0)).data(records_model::value_role).toList();
    ASSERT_EQ(pairs.size(), 3);
    EXPECT_EQ(pairs.at(0).toList(), (QVariantList{"a", 1}));
    EXPECT_EQ(pairs.at(1).toList(), (QVariantList{"a", 2}));
    EXPECT_EQ(pairs.at(2).toList(), (QVariantList{"b", 3}));
}

TEST_F(QtModel, WhatIsNotThereIsFetchedAndDataChangedSaysSo) {
    records_model model;
    ASSERT_TRUE(model.open({numbers(5000)}));
    ASSERT_TRUE(model.set_filter("0 >= 0"));  // not that the thread has waited for room
    std::set<int> changed;
    QObject::connect(&model, &QAbstractItemModel::dataChanged, &model,
                     [&](const QModelIndex& from, const QModelIndex& to) {
                         for (int row = from.row(); row <= to.row(); ++row) changed.insert(row);
                     });
    ASSERT_TRUE(until([&] { return model.state() == state::finished; }));
    ASSERT_EQ(model.rowCount(), 5000);
    EXPECT_FALSE(model.is_fetched(2500));
    EXPECT_FALSE(model.data(model.index(2500, records_model::message)).isValid());
    EXPECT_TRUE(until([&] { return changed.contains(2500); }));
    EXPECT_EQ(text(model, 2500, records_model::message), "number 2500");
    EXPECT_FALSE(changed.contains(0));
    // Values, too.
    const QPersistentModelIndex far = model.index(4321, 0);
    model.fetchMore(far);
    EXPECT_TRUE(until([&] { return model.rowCount(far) == 1; }));
    EXPECT_EQ(text(model, 0, 1, far), "4321");
    // Far more than is kept: all are found again, from the first to the last and back.
    model.set_waiting(true);
    for (int row = 0; row < 5000; row += 7)
        ASSERT_EQ(text(model, row, records_model::message), QStringLiteral("number %1").arg(row));
    for (int row = 4999; row >= 0; row -= 401)
        ASSERT_EQ(text(model, row, records_model::message), QStringLiteral("number %1").arg(row));
}

TEST_F(QtModel, AFilterShowsItsRowsAndAMistakeChangesNothing) {
    records_model model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.set_waiting(true);
    ASSERT_TRUE(model.open({numbers(60)}));
    QString error;
    ASSERT_TRUE(model.set_filter("-l warn", &error));
    ASSERT_TRUE(until([&] { return model.rowCount() == 6; }));
    EXPECT_EQ(text(model, 5, records_model::message), "number 50");
    EXPECT_FALSE(model.set_filter("-l warn -w '0 >='", &error));
    EXPECT_EQ(error, "column 17: expected a value");
    EXPECT_EQ(model.filter(), "-l warn");
    EXPECT_EQ(model.rowCount(), 6);
    // One after the other, before the first has been looked at.
    for (int least = 0; least <= 55; ++least)
        ASSERT_TRUE(model.set_filter(QStringLiteral("0 >= %1").arg(least)));
    ASSERT_TRUE(until([&] { return model.state() == state::finished; }));
    ASSERT_EQ(model.rowCount(), 5);
    EXPECT_EQ(text(model, 0, records_model::message), "number 55");
    ASSERT_TRUE(model.set_filter("0 = 7777"));
    ASSERT_TRUE(until([&] { return model.state() == state::finished; }));
    EXPECT_EQ(model.rowCount(), 0);
}

// It was taken, and forgotten.
TEST_F(QtModel, AFilterBeforeAnythingIsOpenIsOfWhatIsOpened) {
    records_model model;
    model.set_waiting(true);
    ASSERT_TRUE(model.set_filter("-l warn"));
    EXPECT_EQ(model.filter(), "-l warn");
    const QString file = numbers(60);
    ASSERT_TRUE(model.open({file}));
    EXPECT_EQ(model.filter(), "-l warn");
    ASSERT_TRUE(until([&] { return model.state() == state::finished; }));
    EXPECT_EQ(model.rowCount(), 6);
    // What is opened after that is shown whole.
    ASSERT_TRUE(model.open({file}));
    EXPECT_EQ(model.filter(), "");
    ASSERT_TRUE(until([&] { return model.state() == state::finished; }));
    EXPECT_EQ(model.rowCount(), 60);
}

TEST_F(QtModel, WhatCannotBeOpenedSaysWhy) {
    records_model model;
    QString error;
    EXPECT_FALSE(model.open({path("none.silver")}, {}, &error));
    EXPECT_TRUE(error.contains("none.silver")) << error.toStdString();
    EXPECT_FALSE(model.open_live({"no-such-program-*"}, {}, &error));
    EXPECT_TRUE(error.contains("no-such-program")) << error.toStdString();
    EXPECT_EQ(model.rowCount(), 0);
    EXPECT_FALSE(model.data(model.index(0, 0)).isValid());
}

// A program that records until it is killed, a row for each byte that it gets.
TEST_F(QtModel, AProgramThatRunsBringsRowsWhileItRecords) {
    int go[2];
    ASSERT_EQ(pipe(go), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        char byte;
        SP_INFO("ready");
        for (int number = 0; read(go[0], &byte, 1) == 1; ++number) SP_INFO("live {}", number);
        _exit(0);
    }
    ASSERT_GT(child, 0);
    records_model model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    QString error;
    ASSERT_TRUE(until([&] { return model.open_live({QString::number(child)}, {}, &error); }))
        << error.toStdString();
    ASSERT_TRUE(until([&] { return model.rowCount() == 1; }));
    for (int number = 0; number < 50; ++number) {
        ASSERT_EQ(write(go[1], "g", 1), 1);
        if (number % 10 == 9) {
            ASSERT_TRUE(until([&] { return model.rowCount() == number + 2; }));
        }
    }
    EXPECT_TRUE(until([&] { return model.state() == state::waiting; }));
    EXPECT_TRUE(until([&] { return text(model, 50, records_model::message) == "live 49"; }));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_TRUE(until([&] { return model.state() == state::finished; }));
    EXPECT_EQ(model.rowCount(), 51);
    close(go[0]);
    close(go[1]);
}

// A receiver of new rows may set a filter: what came with them belongs to rows that are gone.
TEST_F(QtModel, AFilterThatIsSetWhenRowsComeShowsNothingOfTheRowsBefore) {
    int go[2];
    ASSERT_EQ(pipe(go), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        char byte;
        SP_INFO("ready");
        while (read(go[0], &byte, 1) == 1) SP_WARN("waked");
        _exit(0);
    }
    ASSERT_GT(child, 0);
    records_model model;
    ASSERT_TRUE(until([&] { return model.open_live({QString::number(child)}); }));
    ASSERT_TRUE(until([&] { return model.rowCount() == 1; }));
    const auto set = QObject::connect(&model, &QAbstractItemModel::rowsInserted, [&] {
        if (model.filter().isEmpty()) {
            EXPECT_TRUE(model.set_filter("-l warn"));
        }
    });
    // The first record and the second row come together, when the loop gets its turn.
    EXPECT_EQ(text(model, 0, records_model::message), "");
    ASSERT_EQ(write(go[1], "g", 1), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_TRUE(until([&] { return model.filter() == "-l warn" && model.rowCount() == 1; }));
    EXPECT_TRUE(until([&] { return !text(model, 0, records_model::message).isEmpty(); }));
    EXPECT_EQ(text(model, 0, records_model::message), "waked");
    QObject::disconnect(set);
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    close(go[0]);
    close(go[1]);
}

// A file that is cut under the model: what is gone is empty, and said.
TEST_F(QtModel, AFileThatLosesWhatItHadIsTold) {
    const QString file = numbers(5000);
    records_model model;
    QStringList told;
    model.on_change([&](const QStringList& messages) { told += messages; });
    model.set_waiting(true);
    ASSERT_TRUE(model.open({file}));
    ASSERT_TRUE(until([&] { return model.state() == state::finished; }));
    fs::resize_file(file.toStdString(), 100);
    EXPECT_FALSE(model.data(model.index(4000, records_model::message)).isValid());
    EXPECT_TRUE(until([&] { return !told.empty(); }));
    EXPECT_TRUE(told.last().contains("not there any more")) << told.join('\n').toStdString();
    // Values of a record that cannot be read are given up, and not asked for again and again.
    model.set_waiting(false);
    const QModelIndex lost = model.index(3000, 0);
    EXPECT_TRUE(model.hasChildren(lost) && model.canFetchMore(lost));
    model.fetchMore(lost);
    ASSERT_TRUE(until([&] { return !model.hasChildren(lost); }));
    EXPECT_FALSE(model.canFetchMore(lost));
    model.fetchMore(lost);
    EXPECT_EQ(model.rowCount(lost), 0);
    // Its neighbours were not asked for.
    EXPECT_TRUE(model.hasChildren(model.index(2000, 0)));
}

// Damage is reported, even if the filter has changed before the report.
TEST_F(QtModel, MessagesSurviveAChangeOfTheFilter) {
    const QString file = numbers(5000);
    namespace detail = silverpoint::qt::detail;
    bool is_told = false;
    detail::model_reader reader(silverpoint::reading::reader(file.toStdString()), 1, [&] { is_told = true; });
    ASSERT_TRUE(until([&] { return reader.take().state == state::finished; }));
    QCoreApplication::processEvents();
    is_told = false;
    fs::resize_file(file.toStdString(), 100);
    reader.want(4000);
    ASSERT_TRUE(until([&] { return is_told; }));
    reader.filter("-l warn", 2);
    const detail::news got = reader.take();
    EXPECT_EQ(got.generation, 2u);
    ASSERT_FALSE(got.messages.empty());
    EXPECT_NE(got.messages.front().find("record 4000 is not there any more"), std::string::npos)
        << got.messages.front();
}

// A message may say anything: as a tool tip it is no rich text, and not longer than a screen.
TEST_F(QtModel, ATipIsNoRichTextOfARecords) {
    const QString file = recorded([] {
        const std::string image = "<img src='http://192.0.2.1/x'>", amp = "a & \"b\"", much(5000, 'x');
        SP_INFO("{}", image);
        SP_INFO("{}", amp);
        SP_INFO("{}", much);
    });
    records_model model;
    model.set_waiting(true);
    ASSERT_TRUE(model.open({file}));
    ASSERT_TRUE(until([&] { return model.rowCount() == 3; }));
    const auto tip = [&](int row) {
        return model.index(row, records_model::message).data(Qt::ToolTipRole).toString();
    };
    EXPECT_TRUE(text(model, 0, records_model::message).startsWith("<img"));
    EXPECT_FALSE(tip(0).contains("<img"));
    EXPECT_TRUE(tip(0).contains("&lt;img")) << tip(0).toStdString();
    EXPECT_EQ(tip(1), "a & \"b\"");
    EXPECT_LT(tip(2).size(), 1000);
    model.fetchMore(model.index(0, 0));
    const QModelIndex value = model.index(0, 1, model.index(0, 0));
    EXPECT_TRUE(value.data().toString().startsWith("<img"));
    EXPECT_FALSE(value.data(Qt::ToolTipRole).toString().contains("<img"));
}

// Values of more records than are kept. Those that were opened first go, but for those with a kept index.
// They come again when they are opened again.
TEST_F(QtModel, ValuesOfAnyNumberOfRecordsCanBeSeen) {
    constexpr int many = 10'500;
    records_model model;
    ASSERT_TRUE(model.open({numbers(many)}));
    ASSERT_TRUE(model.set_filter("0 >= 0"));
    model.set_waiting(true);
    ASSERT_TRUE(until([&] { return model.state() == state::finished; }));
    ASSERT_EQ(model.rowCount(), many);
    int removed = 0;
    QObject::connect(&model, &QAbstractItemModel::rowsRemoved, &model, [&] { ++removed; });
    const QPersistentModelIndex second = model.index(1, 0);
    for (int row = 0; row < many; ++row) {
        const QModelIndex record = model.index(row, 0);
        ASSERT_TRUE(model.hasChildren(record) && model.canFetchMore(record)) << row;
        model.fetchMore(record);
        ASSERT_EQ(model.rowCount(record), 1) << row;
        ASSERT_EQ(text(model, 0, 1, record), QString::number(row));
    }
    const QModelIndex first = model.index(0, 0);
    ASSERT_TRUE(until([&] { return model.rowCount(first) == 0; }));
    EXPECT_GT(removed, 0);
    EXPECT_EQ(text(model, 0, 1, second), "1");
    ASSERT_TRUE(model.hasChildren(first) && model.canFetchMore(first));
    model.fetchMore(first);
    EXPECT_EQ(text(model, 0, 1, first), "0");
}

// What the process has in memory now.
double resident_mib() {
    std::ifstream file("/proc/self/statm");
    double all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// Many more records than are kept: rows come while the loop runs, every row can be read, and memory does not
// grow with them.
TEST_F(QtModel, AMillionRecordsAreCountedFetchedAndFiltered) {
    constexpr int many = 1'000'000, rare = 100'000;
    const QString file = recorded([] {
        for (int number = 0; number < many; ++number) {
            if (number % rare == 0)
                SP_ERROR("number {}", number);
            else
                SP_DEBUG("number {}", number);
        }
    });
    const double before = resident_mib();
    double most = before;
    records_model model;
    ASSERT_TRUE(model.open({file}));
    EXPECT_EQ(model.rowCount(), 0);  // none before the loop has run
    model.set_waiting(true);
    // (Waits for room are recorded, too.)
    ASSERT_TRUE(until([&] { return model.state() == state::finished; }));
    ASSERT_GE(model.rowCount(), many);
    most = std::max(most, resident_mib());
    // Rows at the ends, in the middle and all over: `first`, `first + step`, …
    const auto check = [&](const char* filter, int rows, int first, int step) {
        ASSERT_TRUE(model.set_filter(filter));
        ASSERT_TRUE(until([&] { return model.state() == state::finished; }));
        ASSERT_EQ(model.rowCount(), rows);
        std::vector<int> at{0, 1, rows / 2 - 1, rows / 2, rows - 2, rows - 1};
        for (int row = 0; row < rows; row += std::max(1, rows / 100)) at.push_back(row);
        for (const int row : at) {
            ASSERT_EQ(text(model, row, records_model::message),
                      QStringLiteral("number %1").arg(first + row * step));
            most = std::max(most, resident_mib());
        }
        const QModelIndex record = model.index(rows / 2, 0);
        model.fetchMore(record);
        ASSERT_EQ(text(model, 0, 1, record), QString::number(first + rows / 2 * step));
    };
    check("0 >= 0", many, 0, 1);
    check("-l error", many / rare, 0, rare);
    check("0 >= 400000", 600'000, 400'000, 1);
    EXPECT_LT(most - before, 128);  // all of them as rows would take more
}

// The records of a program that runs, as the events of a signal in Qt's loop.
TEST_F(QtModel, ARunningProgramsRecordsAreEventsOfALoop) {
    int go[2];
    ASSERT_EQ(pipe(go), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        char byte;
        for (int number = 0; number < 100; ++number) SP_INFO("live {}", number);
        for (int number = 100; read(go[0], &byte, 1) == 1; ++number) SP_INFO("live {}", number);
        _exit(0);
    }
    ASSERT_GT(child, 0);
    namespace reading = silverpoint::reading;
    std::string error;
    reading::reader reader;
    ASSERT_TRUE(until([&] {
        return bool(reader = reading::reader::live({std::to_string(child)}, {}, error));
    })) << error;
    silverpoint::record_signal live(std::move(reader), 7);
    silverpoint::qt_inbox here;
    QThread* const mine = QThread::currentThread();
    int next = 0;
    bool is_right = true;
    std::optional<std::uint64_t> ended;
    live.connect_queued(here, [&](const silverpoint::record_batch& batch) {
        is_right = is_right && batch->size() <= 7 && QThread::currentThread() == mine;
        for (const auto& record : *batch)
            is_right = is_right && record.message() == "live " + std::to_string(next++);
    });
    live.connect_end(here, [&](std::uint64_t records) { ended = records; });
    EXPECT_EQ(next, 0);
    live.start();
    ASSERT_TRUE(until([&] { return next == 100; }));
    ASSERT_EQ(write(go[1], "abcde", 5), 5);
    ASSERT_TRUE(until([&] { return next == 105; }));
    EXPECT_FALSE(ended);
    close(go[0]);
    close(go[1]);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    ASSERT_TRUE(until([&] { return ended.has_value(); }));
    EXPECT_EQ(*ended, 105u);
    EXPECT_TRUE(is_right);
}

// A receiver that takes nothing holds the reading up, and not the end of the signal.
TEST_F(QtModel, ASignalOfRecordsEndsWhileItsReceiverIsBehind) {
    const QString file = numbers(5000);
    silverpoint::qt_inbox here;
    int batches = 0;
    {
        silverpoint::record_signal all(silverpoint::reading::reader(file.toStdString()), 10);
        all.connect_queued(here, [&](const silverpoint::record_batch&) { ++batches; },
                           {2, silverpoint::overflow::block});
        all.start();
        ASSERT_TRUE(until([&] { return batches > 3; }));
    }
    const int before = batches;
    QCoreApplication::processEvents();
    EXPECT_EQ(batches, before);
}

}  // namespace
