/* Tracepoints in C.
 *
 *   cc -std=c11 hello.c -lsilverpoint_c -o hello
 *   silverpoint run -- ./hello; silverpoint cat */
#include <silverpoint/silverpoint.h>

SP_CATEGORY("orders");

struct order {
    int id;
    double price;
    const char* customer;
};

static double total_of(const struct order* orders, size_t count) {
    SP_SPAN("total", count);
    double total = 0;
    for (size_t i = 0; i < count; ++i) {
        const int id = orders[i].id;
        const double price = orders[i].price;
        SP_DEBUG("order %d at %.2f for %s", id, price, orders[i].customer);
        SP_EVENT("order.counted", id, price);
        total += price;
    }
    SP_COUNTER("total", total, "EUR");
    return total;
}

int main(void) {
    const struct order orders[] = {{1, 9.5, "Ada"}, {2, 20.25, "Grace"}, {3, 0.5, "Edsger"}};
    SP_INFO("hello from C, %zu orders", sizeof orders / sizeof orders[0]);
    if (total_of(orders, 3) > 30) SP_WARN("that is more than %d", 30);
    return 0;
}
