// A service in the native macros: own types, spans, context, worker threads, a logger with two sinks.
#include <cstdlib>
#include <map>
#include <optional>
#include <silverpoint/context.hpp>
#include <silverpoint/logger.hpp>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <thread>
#include <vector>

SP_CATEGORY("shop")

namespace {

enum class Side { kBuy, kSell };
struct Order {
    int id;
    Side side;
    std::optional<double> limit;
    std::vector<std::string> tags;
};
}  // namespace
SP_ENUM(Side, kBuy, kSell)
SP_STRUCT(Order, id, side, limit, tags)
namespace {

class Book {
  public:
    void add(const Order& order) {
        SP_SPAN("book.add", order.id);
        orders_.emplace(order.id, order);
        SP_DEBUG << "orders" << orders_;
        SP_COUNTER("orders.open", orders_.size());
        if (!order.limit) SP_WARN("order {} has no limit", order.id);
    }

  private:
    std::map<int, Order> orders_;
};

}  // namespace

int main() {
    const std::string path = std::getenv("ADOPT_LOG");
    silverpoint::start(silverpoint::logger_config("debug")
                           .to(silverpoint::sink::file(path).level("info").rotate("1M", 3))
                           .to(silverpoint::sink::file(path + ".jsonl").json()));
    Book book;
    std::thread worker([&book] {
        SP_CONTEXT("request", 17);
        book.add(Order{1, Side::kBuy, 2.5, {"fast", "small"}});
        book.add(Order{2, Side::kSell, std::nullopt, {}});
    });
    worker.join();
    SP_INFO("the answer {} in {:>8.2f} ms", 42, 0.5);
    SP_EVENT("order.filled", path);
    SP_INFOF("%s", "printf's way");
    return silverpoint::stop() ? 0 : 1;
}
