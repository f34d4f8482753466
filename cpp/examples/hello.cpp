// The smallest program that shows each kind of tracepoint.
//
//   c++ -std=c++20 -I cpp/include cpp/examples/hello.cpp -o hello
//   silverpoint run -o hello.spt -- ./hello && silverpoint cat hello.spt
#include <map>
#include <optional>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <vector>

SP_CATEGORY("hello")

struct Order {
    int id;
    std::string symbol;
    double price;
    std::optional<int> limit;
};
SP_STRUCT(Order, id, symbol, price, limit)

int main() {
    const Order order{7, "SPT", 101.25, std::nullopt};
    const std::vector<int> depth{3, 1, 4};
    const std::map<std::string, int> books{{"ask", 2}, {"bid", 5}};

    SP_INFO("order {} at {:.2f}", order.id, order.price);
    SP_DEBUG << "depth" << depth << "books" << books;
    {
        SP_SPAN("order.match", order.id);
        SP_EVENT("order.filled", order, depth.size());
        SP_COUNTER("orders.open", books.size());
    }
    SP_INSTANT("market.closed");
    if (SP_ENABLED(trace)) {
        SP_TRACE("{} books", books.size());
    }
}
