// Plug-ins that write by qDebug(): one that was compiled without a word of ours, through the message handler,
// and one that is captured and unloaded.
#include <dlfcn.h>

#include <QMessageLogger>
#include <algorithm>

#include "silverpoint/qt/debug.hpp"
#include "support/beside.hpp"
#include "support/traced.hpp"

namespace {

std::vector<QString> printed;
void print(QtMsgType, const QMessageLogContext&, const QString& text) { printed.push_back(text); }

class QtPlugins : public testing::Test {
  protected:
    void SetUp() override {
        printed.clear();
        before_ = qInstallMessageHandler(print);
    }
    void TearDown() override {
        silverpoint::qt::remove_message_handler();
        qInstallMessageHandler(before_);
        traced::take();
    }
    QtMessageHandler before_ = nullptr;
};

TEST_F(QtPlugins, MessagesOfCodeThatWasNotRecompiledHaveTheirContext) {
    void* plugin = dlopen(beside("libqt_plugin_foreign.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(plugin, nullptr) << dlerror();
    const auto run = reinterpret_cast<int (*)(int)>(dlsym(plugin, "foreign_run"));
    ASSERT_NE(run, nullptr);
    silverpoint::qt::install_message_handler();
    const int last_line = run(7);
    const auto all = traced::take();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_TRUE(printed.empty());
    EXPECT_EQ(all[0].text, "u\"foreign 7\"");
    EXPECT_EQ(all[0].site.category, "default");
    EXPECT_EQ(all[1].text, "u\"with a category 7\"");
    EXPECT_EQ(all[1].site.category, "foreign.category");
    for (int i = 0; i < 2; ++i) {
        const reader::Site& site = all[static_cast<std::size_t>(i)].site;
        EXPECT_NE(site.file.find("qt_plugin_foreign.cpp"), std::string::npos) << site.file;
        EXPECT_EQ(static_cast<int>(site.line), last_line - 5 + i);
        EXPECT_EQ(site.function, "int foreign_run(int)");
    }
    EXPECT_NE(all[2].text.find("QObject::connect: No such signal QObject::none()"), std::string::npos)
        << all[2].text;
    ASSERT_EQ(dlclose(plugin), 0);
    EXPECT_EQ(dlopen(beside("libqt_plugin_foreign.so").c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr)
        << "something keeps it";
}

// Qt went on to call what had been unloaded.
TEST_F(QtPlugins, ACapturedPluginMayBeClosed) {
    for (int i = 0; i < 3; ++i) {
        void* plugin = dlopen(beside("libqt_plugin_captured.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(plugin, nullptr) << dlerror();
        reinterpret_cast<void (*)(int)>(dlsym(plugin, "captured_run"))(i);
        ASSERT_EQ(dlclose(plugin), 0);
        QMessageLogger().warning("behind");
    }
    std::vector<std::string> texts;
    for (const traced::Seen& one : traced::take()) texts.push_back(one.text);
    EXPECT_EQ(texts, (std::vector<std::string>{"0", "u\"held 0\"", "1", "u\"held 1\"", "2", "u\"held 2\""}));
    EXPECT_EQ(printed, std::vector<QString>(3, "behind"));
}

// Each holds streams in turn: the handlers of both stand above one another.
TEST_F(QtPlugins, ProgramAndPluginTakeTurns) {
    void* plugin = dlopen(beside("libqt_plugin_captured.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(plugin, nullptr) << dlerror();
    const auto run = reinterpret_cast<void (*)(int)>(dlsym(plugin, "captured_run"));
    constexpr int kTurns = 40;
    for (int i = 0; i < kTurns; ++i) {
        run(i);
        QDebug(qWarning()) << "of the program" << i;
        QMessageLogger().warning("of neither");
    }
    EXPECT_EQ(traced::take().size(), 3u * kTurns);
    EXPECT_EQ(printed, std::vector<QString>(kTurns, "of neither"));
}

}  // namespace
