// What becomes of qDebug() << … when things go wrong: exceptions, races of first uses, handlers of others,
// and values that change within the statement.
#include <QThread>
#include <atomic>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>

#include "silverpoint/qt/debug.hpp"
#include "support/traced.hpp"

Q_LOGGING_CATEGORY(fates, "fates")
// In qt_silent_part.cpp.
int say_in_silence();

struct Throwing {
    bool throws;
};
QDebug operator<<(QDebug out, const Throwing& value) {
    out << "before";
    if (value.throws) throw std::runtime_error("from an operator");
    return out << "after";
}

namespace {

// What is found from here alone.
QDebug operator<<(QDebug out, const std::optional<int>& value) {
    const QDebugStateSaver saver(out);
    return out.nospace() << "optional(" << value.value_or(0) << ')';
}
struct Changing {
    int reads = 0;
};
QDebug operator<<(QDebug out, Changing& value) { return out << ++value.reads; }

// The records since the last call: template, and what the arguments are.
std::vector<std::string> seen() {
    std::vector<std::string> all;
    for (const traced::Seen& one : traced::take()) all.push_back(one.site.text + " | " + one.text);
    return all;
}
using Lines = std::vector<std::string>;

int at(int index) {
    if (index > 1) throw std::out_of_range("no such value");
    return index;
}

// --- Exceptions

TEST(QtFates, AnExceptionAmongThePieces) {
    const auto say = [](int index) {
        try {
            qDebug() << "value" << index << at(index) << 7ll << 8ll;
        } catch (const std::out_of_range&) {
            return false;
        }
        return true;
    };
    // Before the place is complete, and behind.
    EXPECT_FALSE(say(2));
    EXPECT_TRUE(say(1));
    EXPECT_FALSE(say(3));
    EXPECT_TRUE(say(0));
    EXPECT_EQ(seen(), (Lines{"{} | u\"value 2\"", "value {} {} {} {} | 1 1 7 8", "{} | u\"value 3\"",
                             "value {} {} {} {} | 0 0 7 8"}));
}

TEST(QtFates, AnExceptionBehindTextOfOwnTypes) {
    const auto say = [](int index) {
        try {
            qDebug() << Throwing{false} << at(index) << QString("text");
        } catch (const std::out_of_range&) {
        }
    };
    for (const int index : {1, 2, 0}) say(index);
    EXPECT_EQ(seen(), (Lines{"{}{} {} | u\"before after \" 1 u\"text\"", "{} | u\"before after\"",
                             "{}{} {} | u\"before after \" 0 u\"text\""}));
}

TEST(QtFates, AnExceptionOfAnOperatorGoesOn) {
    const auto say = [](bool throws) { qInfo() << 1 << Throwing{throws} << "end"; };
    EXPECT_THROW(say(true), std::runtime_error);
    EXPECT_NO_THROW(say(false));
    EXPECT_THROW(say(true), std::runtime_error);
    EXPECT_EQ(seen(),
              (Lines{"{} | u\"1 before \"", "{} {}end | 1 u\"before after \"", "{} | u\"1 before \""}));
    // Not out of a stream that another exception ends.
    EXPECT_THROW(qInfo() << Throwing{true} << at(2), std::out_of_range);
    EXPECT_EQ(seen(), Lines{"{} | u\"before \""});
}

TEST(QtFates, StatementsWhileAnExceptionIsUnderWay) {
    struct Guard {
        int number;
        ~Guard() { qWarning() << "left" << number; }
    };
    for (int i = 0; i < 2; ++i) {
        try {
            const Guard guard{i};
            throw 1;
        } catch (int) {
        }
    }
    { const Guard guard{2}; }
    EXPECT_EQ(seen(), (Lines{"{} | u\"left 0\"", "{} | u\"left 1\"", "left {} | 2"}));
}

// --- Held streams

// They wrote into one text of the thread that began them, which was gone before they were.
TEST(QtFates, StreamsThatAreOffMayOutliveTheirThread) {
    int printed = 0;
    static int* count = nullptr;
    count = &printed;
    const auto before = qInstallMessageHandler([](QtMsgType, auto&, auto&) { ++*count; });
    // (What is off is off, though everything else is enabled.)
    QLoggingCategory::setFilterRules("*=true\nfates.debug=false");
    std::vector<QDebug> held;
    for (int i = 0; i < 4; ++i) {
        std::thread([&] {
            held.push_back(qDebug(fates));
            held.back() << QString(100, 'x');
        }).join();
    }
    for (QDebug& one : held) one << QString(100'000, 'y') << 1;
    held.clear();
    QLoggingCategory::setFilterRules("");
    qInstallMessageHandler(before);
    EXPECT_EQ(printed, 0);
    EXPECT_EQ(seen(), Lines{});
}

// --- First uses at the same time

TEST(QtFates, LiteralsAreThoseOfTheRecord) {
    // Two texts that race for being the first of a place, at many places: none may become the other.
    std::atomic<int> ready{0}, wrong{0};
    const auto say = [](auto place, bool is_on) {
        qInfo() << (is_on ? "on" : "of") << int(is_on) << int(place);
        qInfo(is_on ? "on %d %d" : "of %d %d", int(is_on), int(place));
    };
    const auto all = [&]<std::size_t... I>(std::index_sequence<I...>, bool is_on) {
        (([&] {
             ready.fetch_add(1);
             while (ready.load() < 2 * int(I + 1)) continue;
             say(std::integral_constant<int, int(I)>(), is_on);
         }()),
         ...);
    };
#if defined(__OPTIMIZE__)  // each place takes long to compile
    constexpr std::size_t kCount = 2;
#else
    constexpr std::size_t kCount = 50;
#endif
    constexpr auto kPlaces = std::make_index_sequence<kCount>();
    std::thread other([&] { all(kPlaces, true); });
    all(kPlaces, false);
    other.join();
    const auto lines = seen();
    EXPECT_EQ(lines.size(), 4 * kCount);
    for (const std::string& line : lines) {
        const bool is_on = line.find("on") != std::string::npos;
        const bool is_one = line.find(" 1 ") != std::string::npos;
        if (is_on != is_one) {
            ++wrong;
            ADD_FAILURE() << line;
        }
    }
    EXPECT_EQ(wrong, 0);
}

// --- Values that change within the statement

const char* shared_text(int number) {
    static char text[16];
    std::snprintf(text, sizeof text, "n%d", number);
    return text;
}

TEST(QtFates, ValuesAreThoseAtTheirOperator) {
    qDebug() << shared_text(1) << shared_text(2);
    QList<int> list{5, 6};
    qDebug() << list << list.takeFirst() << list;
    QString text("a");
    qDebug() << text << (text += "b") << text;
    QPoint point(1, 2);
    qDebug() << point << ++point.rx();
    char buffer[4] = "x";
    const auto change = [&] { return buffer[0] = 'y'; };
    qDebug() << buffer << change();
    QMap<QString, int> map{{"k", 1}};
    qDebug() << map << (map["k"] = 2);
    QVariant variant(1);
    qDebug() << variant << (variant = 2).toInt();
    const auto lines = seen();
    ASSERT_EQ(lines.size(), 7u);
    EXPECT_EQ(lines[0], "{} {} | \"n1\" \"n2\"");
    EXPECT_EQ(lines[1], "{} {} {} | [5, 6] 5 [6]");
    EXPECT_EQ(lines[2], "{} {} {} | u\"a\" u\"ab\" u\"ab\"");
    EXPECT_EQ(lines[3], "{} {} | QPoint{x: 1, y: 2} 2");
    EXPECT_EQ(lines[4], "{} {} | \"x\" 'y'");
    EXPECT_EQ(lines[5], "{} {} | {u\"k\": 1} 2");
    EXPECT_NE(lines[6].find("QVariant(int, 1)"), std::string::npos) << lines[6];
}

struct Constants {
    static const int kWithoutDefinition = 5;
    unsigned bits : 3;
};

TEST(QtFates, ValuesThatHaveNoAddress) {
    const Constants constants{6};
    qDebug() << Constants::kWithoutDefinition << constants.bits;
    volatile int changing = 7;
    qDebug() << changing;
    EXPECT_EQ(seen(), (Lines{"{} {} | 5 6", "{} | 7"}));
}

TEST(QtFates, OperatorsAreFoundFromTheStatement) {
    qDebug() << std::optional<int>(3) << 1;
    Changing value;
    qDebug() << value;
    {
        auto held = qDebug();
        held << std::optional<int>(4) << 2;
    }
    EXPECT_EQ(seen(), (Lines{"{}{} | u\"optional(3) \" 1", "{} | u\"1\"", "{} | u\"optional(4) 2\""}));
}

TEST(QtFates, WhatIsOffWhenCompiledIsNotEvaluated) {
    EXPECT_EQ(say_in_silence(), 0);
    EXPECT_EQ(seen(), Lines{"still there | "});
}

// --- Handlers of others

std::atomic<int> first_seen{0}, second_seen{0};
void first(QtMsgType, const QMessageLogContext&, const QString&) { ++first_seen; }
QtMessageHandler before_second = nullptr;
void second(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    ++second_seen;
    if (second_seen > 100) std::abort();
    before_second(type, context, text);
}
void emit_foreign(int line = 1) { QMessageLogger("foreign.cpp", line, "void f()", "lib").warning("text"); }

TEST(QtFates, HandlersInAChain) {
    const QtMessageHandler original = qInstallMessageHandler(first);
    const auto expect = [](int at_first, int at_second, std::size_t recorded, const char* when) {
        first_seen = second_seen = 0;
        emit_foreign();
        EXPECT_EQ(first_seen, at_first) << when;
        EXPECT_EQ(second_seen, at_second) << when;
        EXPECT_EQ(seen().size(), recorded) << when;
    };
    silverpoint::qt::install_message_handler(true);
    expect(1, 0, 1, "installed");
    before_second = qInstallMessageHandler(second);
    expect(1, 1, 1, "below another");
    silverpoint::qt::remove_message_handler();
    expect(1, 1, 0, "removed below another");
    silverpoint::qt::install_message_handler(true);
    expect(1, 1, 1, "above one that calls us");
    silverpoint::qt::install_message_handler();
    expect(0, 0, 1, "printing nothing");
    silverpoint::qt::remove_message_handler();
    expect(1, 1, 0, "removed above");
    // Given back what the second was given.
    qInstallMessageHandler(before_second);
    expect(1, 0, 0, "only passing on");
    silverpoint::qt::install_message_handler(true);
    expect(1, 0, 1, "on top again");
    silverpoint::qt::remove_message_handler();
    expect(1, 0, 0, "at the end");
    qInstallMessageHandler(original);
}

TEST(QtFates, WhereMessagesComeFromIsKnownForMany) {
    const QtMessageHandler original = qInstallMessageHandler(first);
    silverpoint::qt::install_message_handler();
    const auto function_of_last = [] {
        const auto all = traced::take();
        return all.empty() ? "nothing" : all.back().site.file;
    };
    emit_foreign(1);
    EXPECT_EQ(function_of_last(), "foreign.cpp");
    for (int line = 2; line < 5000; ++line) {
        emit_foreign(line);
        if (line % 100 == 0) traced::take();
    }
    EXPECT_EQ(function_of_last(), "") << "one is shared by those beyond the most";
    emit_foreign(1);
    EXPECT_EQ(function_of_last(), "foreign.cpp") << "known from before";
    silverpoint::qt::remove_message_handler();
    // A stream of ours that is held does not catch what others share.
    {
        QDebug held = qWarning();
        held << "ours";
    }
    EXPECT_EQ(traced::take().size(), 1u);
    first_seen = 0;
    emit_foreign(6000);
    EXPECT_EQ(first_seen, 1);
    EXPECT_TRUE(traced::take().empty());
    silverpoint::qt::remove_message_handler();
    qInstallMessageHandler(original);
}

}  // namespace
