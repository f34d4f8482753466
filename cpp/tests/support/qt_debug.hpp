// What tests of qDebug() share: text that was recorded beside text that Qt printed.
#pragma once

#include <QDebug>
#include <QLoggingCategory>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "scratch.hpp"
#include "silverpoint/logger.hpp"
#include "silverpoint/qt/debug.hpp"
#include "traced.hpp"

// An own type that leaves the stream as it was.
struct Tidy {
    int x;
};
inline QDebug operator<<(QDebug out, const Tidy& tidy) {
    const QDebugStateSaver saver(out);
    return out.nospace() << "Tidy(" << tidy.x << ')';
}
namespace {

namespace fs = std::filesystem;

std::mutex lock;
std::vector<QString> printed;
std::vector<QString> contexts;
void remember(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    const std::lock_guard guard(lock);
    printed.push_back(text);
    contexts.push_back(
        QString("%1 %2 %3 %4").arg(int(type)).arg(context.category).arg(context.line).arg(context.function));
}

// A logger that writes the messages alone.
class QtDebugTest : public testing::Test {
  protected:
    void SetUp() override {
        directory_ = scratch_directory("qt");
        before_ = qInstallMessageHandler(remember);
        printed.clear();
        contexts.clear();
        using silverpoint::sink;
        ASSERT_TRUE(silverpoint::start(
            silverpoint::logger_config("trace")
                .to(sink::file((directory_ / "messages").string()).pattern("{text}{fields}"))
                .to(sink::file((directory_ / "sites").string()).pattern("{level} {category}"))));
    }
    void TearDown() override {
        silverpoint::stop();
        fs::remove_all(directory_);
        silverpoint::qt::echo(false);
        silverpoint::qt::remove_message_handler();
        qInstallMessageHandler(before_);
        QLoggingCategory::setFilterRules("");
    }
    std::vector<std::string> lines(const char* name = "messages") const {
        EXPECT_TRUE(silverpoint::flush());
        std::ifstream file(directory_ / name);
        std::vector<std::string> found;
        for (std::string line; std::getline(file, line);) found.push_back(line);
        return found;
    }
    // Compares what was recorded with what QDebug printed.
    void compare(const std::vector<const char*>& sources) const {
        const auto got = lines();
        ASSERT_EQ(got.size(), sources.size());
        ASSERT_EQ(printed.size(), sources.size());
        // (A line of a log is one line.)
        for (std::size_t i = 0; i < sources.size(); ++i)
            EXPECT_EQ(got[i], printed[i].replace("\n", "\\n").toStdString()) << "of qDebug() " << sources[i];
    }
    fs::path directory_;
    QtMessageHandler before_ = nullptr;
};

inline void by_reference(QDebug& out) { out << "by reference"; }

}  // namespace

// By Qt, then by the macro: each statement once.
#define BOTH(...)                                                  \
    do {                                                           \
        sources.push_back(#__VA_ARGS__);                           \
        QMessageLogger("file", 1, "function").debug() __VA_ARGS__; \
        qDebug() __VA_ARGS__;                                      \
    } while (false);

// A value in many surroundings.
#define IN_ALL_WAYS(...)                                        \
    BOTH(<< __VA_ARGS__)                                        \
    BOTH(.nospace().noquote() << "{before" << __VA_ARGS__ << 1) \
    BOTH(<< Tidy{1} << __VA_ARGS__ << "after")                  \
    BOTH(<< Qt::hex << __VA_ARGS__ << 10)

// The same of printf's forms.
#define BOTH_PRINTF(...)                                      \
    sources.push_back(#__VA_ARGS__);                          \
    QMessageLogger("file", 1, "function").debug(__VA_ARGS__); \
    qDebug(__VA_ARGS__);
