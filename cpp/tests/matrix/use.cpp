// Each macro as programs use it: in classes and functions, with volatile variables. Static constants that are
// defined nowhere are arguments of records with up to three numbers, or with two arguments.
// (logging.cpp has the program that calls this.)
#include <map>
#include <optional>
#include <silverpoint/silverpoint.hpp>
#include <silverpoint/trace_context.hpp>
#include <string>
#include <vector>

struct Limits {
    static const int kMost = 42;
};
enum class Side { kLeft, kRight };
SP_ENUM(Side, kLeft, kRight)

struct Worker {
    silverpoint::AsyncSpan span;
    silverpoint::CapturedContext context;
    std::optional<silverpoint::TraceContext> trace;
    std::vector<silverpoint::Carried<int>> carried;
};

SP_CATEGORY("matrix")

int native();
int native() {
    volatile int reg = 1;
    volatile bool flag = true;
    volatile double ratio = 0.5;
    volatile Side side = Side::kRight;
    char* volatile text = nullptr;
    const std::map<std::string, std::vector<int>> map{{"a", {1, 2}}};
    SP_INFO("{} {} {} {} {}", reg, flag, ratio, side, map);
    SP_INFO("{} {} {}", reg, ratio, Limits::kMost);
    SP_INFO << "reg" << reg << side << Limits::kMost << map;
    SP_INFOF("%d %d", reg, Limits::kMost);
    SP_INFOF("%s", text);
    SP_EVENT("event", reg, Limits::kMost);
    SP_EVENT("event", Limits::kMost, map);
    SP_COUNTER("counter", reg);
    SP_COUNTER("counter", Limits::kMost, "ms");
    SP_INSTANT("instant", reg);
    SP_SPAN("span", reg, Limits::kMost);
    SP_SCOPE();
    SP_CONTEXT("most", Limits::kMost);
    auto line = SP_STREAM(info);
    line << reg << Limits::kMost << "text";
    SP_INFO_EVERY_N(Limits::kMost, "{}", reg);
    SP_INFO_EVERY(Limits::kMost, "{}", SP_HEX(Limits::kMost));
    SP_INFO("{} {}", SP_UNIT(Limits::kMost, "B"), SP_SECRET(reg));
    SP_LOG(warn, "net", "{}", Limits::kMost);
    SP_TO(warn, "net") << Limits::kMost;
    SP_ASYNC_BEGIN("async", Limits::kMost, reg);
    SP_ASYNC_END("async", Limits::kMost);
    SP_LINK(Limits::kMost, 2);
    Worker worker;
    worker.span = SP_ASYNC_SPAN("async", Limits::kMost);
    if (SP_ENABLED(debug)) SP_DEBUG("on");
    SP_INFO("no arguments");
    return 0;
}
