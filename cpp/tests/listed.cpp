// A program that executes sites of all sorts. Their list must be the same without running it
// (crates/programs/silverpoint-cli/tests/it/listed.rs). Of streams the list knows the place only.
#include "listed.hpp"

#include <silverpoint/ostream.hpp>
#include <string>
#include <utility>

SP_CATEGORY("listed.program")

#define BOTH(first, second) \
    do {                    \
        SP_INFO(first);     \
        SP_INFO(second);    \
    } while (false)

namespace {

template <class First, class Second>
Second second(First, Second value) {
    return value;
}

void texts(const std::string& name, int number) {
    SP_TRACE("plain");
    SP_DEBUG("{} {:.2f} {{}}", name, 2.5);
    SP_INFO(
        "over {} "
        "lines {}",
        name, number);
    SP_WARN("quotes \" and \\ and\ttabs and %d ünïcödé");
    SP_LOG(error, "net::tcp", "slow: {} ms", number);
    SP_TO(fatal, "net")("to {}", number);
    if (number > 0)
        SP_INFO("first of two");
    else
        SP_INFO("not this one");
    SP_INFO("within {}", [&] {
        SP_INFO("inner {}", number);
        return number;
    }());
    BOTH("two", "of a line");
    SP_INFOF("percent %5.1f%%", 2.5);
    SP_INFO_EVERY_N(2, "limited {}", number);
    switch (number) {
        case 7:
            SP_INFO("in a switch");
            break;
        default:
            break;
    }
}

void streams(int number) {
    SP_DEBUG << "pos" << number;
    SP_TO(info, "net") << "to" << number;
    auto held = SP_STREAM(warn);
    held << "held" << number;
    SP_OSTREAM(error) << "text " << number;
}

int kinds(int number) {
    SP_SCOPE();
    SP_SPAN("load", number, std::pair<int, int>(1, 2));
    SP_EVENT("order.filled", number, second<int, int>(1, number), SP_HEX(number), "a, b");
    SP_EVENT_AT(warn, "bare");
    SP_COUNTER("depth", number * 2, "ms");
    SP_INSTANT("tick");
    const auto id = silverpoint::new_id(), to = silverpoint::new_id();
    SP_ASYNC_BEGIN("fetch", id, number);
    SP_ASYNC_INSTANT("fetch", id);
    SP_ASYNC_END("fetch", id);
    auto span = SP_ASYNC_SPAN("held", number);
    SP_FLOW_BEGIN("order", id);
    SP_FLOW_STEP("order", id);
    SP_FLOW_END("order", id);
    SP_LINK(id, to);
    return SP_ENABLED(info) ? number : 0;
}

}  // namespace

int main() {
    texts("ada", 7);
    texts("ada", 0);
    streams(7);
    kinds(7);
    listed::shared(1);
    listed::shared_for(1);
    listed::shared_for(2.5);
    listed::Shared{}.run();
    listed::Shared::stream(2);
    listed::other_file();
    [](auto value) { SP_INFO("in a generic lambda {}", value); }(1);
}
