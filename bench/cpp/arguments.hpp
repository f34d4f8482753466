// The tracepoints of `bench/run --part arguments`: one kind of argument each, by itself.
#ifndef SILVERPOINT_BENCH_ARGUMENTS_HPP
#define SILVERPOINT_BENCH_ARGUMENTS_HPP
#include <cstdint>
#include <map>
#include <optional>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "case.hpp"

namespace bench_types {
enum class Side : std::uint8_t { kBuy, kSell };
struct Order {
    std::int32_t id;
    double price;
    bool is_open;
};
}  // namespace bench_types
SP_ENUM(bench_types::Side, kBuy, kSell)
SP_STRUCT(bench_types::Order, id, price, is_open)

namespace {

struct Kinds {
    std::string text8 = "frame.01";
    std::string text35 = "/var/lib/silverpoint/data/frame.000";
    std::string text256 = std::string(256, 'x');
    std::wstring wide35 = L"/var/lib/silverpoint/data/frame.000";
    std::vector<float> floats = std::vector<float>(128, 0.25F);
    std::map<std::string, std::int32_t> map{{"alpha", 1}, {"beta", 20}, {"gamma", 300}};
};
const Kinds kinds;

}  // namespace

CASE(argument_none, SP_INFO("bench none"))
CASE(argument_u64, SP_INFO("bench u64 {}", id))
CASE(argument_f64, SP_INFO("bench f64 {}", fraction))
CASE(argument_bool, SP_INFO("bench bool {}", index % 3 == 0))
CASE(argument_enum, SP_INFO("bench enum {}", static_cast<bench_types::Side>(index & 1)))
CASE(argument_text8, SP_INFO("bench text8 {}", kinds.text8))
CASE(argument_text35, SP_INFO("bench text35 {}", kinds.text35))
CASE(argument_text256, SP_INFO("bench text256 {}", kinds.text256))
CASE(argument_view35, SP_INFO("bench view35 {}", std::string_view(kinds.text35)))
CASE(argument_cstring35, SP_INFO("bench cstring35 {}", kinds.text35.c_str()))
CASE(argument_wide35, SP_INFO("bench wide35 {}", kinds.wide35))
CASE(argument_floats128, SP_INFO("bench floats128 {}", kinds.floats))
CASE(argument_map3, SP_INFO("bench map3 {}", kinds.map))
CASE(argument_optional, SP_INFO("bench optional {}", std::optional<double>(fraction)))
CASE(argument_pair, SP_INFO("bench pair {}", std::pair(index, fraction)))
CASE(argument_struct3, SP_INFO("bench struct3 {}", (bench_types::Order{index, fraction, true})))
CASE(argument_event, SP_EVENT("bench.event", fraction))
CASE(argument_counter, SP_COUNTER("bench.counter", fraction))
CASE(argument_span, { SP_SPAN("bench.span"); })
CASE(argument_stream, SP_INFO << "bench stream" << fraction)
CASE(argument_printf, SP_INFOF("bench printf %.2f", fraction))

// Their entries in the table of cases.
#define BENCH_ARGUMENT(name) \
    { "argument." #name, argument_##name##_burst, argument_##name##_singles }
#define BENCH_ARGUMENT_CASES                                                                             \
    BENCH_ARGUMENT(none), BENCH_ARGUMENT(u64), BENCH_ARGUMENT(f64), BENCH_ARGUMENT(bool),                \
        BENCH_ARGUMENT(enum), BENCH_ARGUMENT(text8), BENCH_ARGUMENT(text35), BENCH_ARGUMENT(text256),    \
        BENCH_ARGUMENT(view35), BENCH_ARGUMENT(cstring35), BENCH_ARGUMENT(wide35),                       \
        BENCH_ARGUMENT(floats128), BENCH_ARGUMENT(map3), BENCH_ARGUMENT(optional), BENCH_ARGUMENT(pair), \
        BENCH_ARGUMENT(struct3), BENCH_ARGUMENT(event), BENCH_ARGUMENT(counter), BENCH_ARGUMENT(span),   \
        BENCH_ARGUMENT(stream), BENCH_ARGUMENT(printf)

#endif
