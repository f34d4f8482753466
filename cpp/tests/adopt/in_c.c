/* A program of C: a logger inside the process, spans, events, fields of a scope. */
#include <silverpoint/silverpoint.h>
#include <silverpoint/start.h>
#include <stdio.h>
#include <stdlib.h>

SP_CATEGORY("shop");

static double fill(int id, double price) {
    SP_SPAN("fill", id);
    SP_CONTEXT("order", id);
    SP_DEBUG("at %.2f", price);
    SP_EVENT("order.filled", id, price);
    SP_COUNTER("orders.open", 12);
    return price * id;
}

int main(void) {
    char config[600], error[300];
    snprintf(config, sizeof config, "[[sink]]\nto = 'file'\npath = '%s'\n", getenv("ADOPT_LOG"));
    if (sp_start_logger(config, error, sizeof error) != SILVERPOINT_DONE) return puts(error), 1;
    SP_INFO("the answer %d of %s", 42, "apple");
    SP_WARN_IF(fill(7, 101.25) > 1.0, "much: %5.1f", 2.0);
    return silverpoint_stop(60000) == SILVERPOINT_DONE ? 0 : 1;
}
