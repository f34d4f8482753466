// The library's own functions, without LTTng: field names, values as JSON, and sessions.
#include <cstdio>
#include <lttng/fields.hpp>
#include <lttng/payload.hpp>
#include <probes/site_events.hpp>
#include <string>

using namespace silverpoint::lttng;

static int failures = 0;

static void expect(const char* what, std::string_view found, std::string_view wanted) {
    if (found == wanted) return;
    std::printf("%s: %.*s, but %.*s was expected\n", what, static_cast<int>(found.size()), found.data(),
                static_cast<int>(wanted.size()), wanted.data());
    ++failures;
}

static void json(const char* signature, std::string_view bytes, std::string_view wanted) {
    Output out;
    Input in(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    Signature of{std::string_view(signature)};
    put_json(out, of, in);
    expect(signature, {out.bytes(), out.size()}, wanted);
    if (!of.is_at_end() || !in.is_at_end()) expect(signature, "not all was read", "");
}

// An item of CBOR as a value of type `v`.
static void item(std::string_view bytes, std::string_view wanted) {
    std::string packed(4, '\0');
    packed[0] = static_cast<char>(bytes.size() & 255);
    packed[1] = static_cast<char>(bytes.size() >> 8);
    json("v", packed.append(bytes), wanted);
}
#define BYTES(literal) std::string_view(literal, sizeof(literal) - 1)

static void names() {
    // Too long, and equal in what is kept: each name is used once, and has what tells it from the others.
    const std::string name(300, 'n');
    ProbeDesc probe;
    const FieldList list("iiis", name + '\n' + name + '\n' + name + '\n' + name + '\n', &probe);
    expect("is whole", list.is_broken() ? "no" : "yes", "yes");
    expect("fields", std::to_string(list.count()), "5");
    expect("first", list.fields()[0]->name, std::string(200, 'n'));
    expect("second", list.fields()[1]->name, std::string(180, 'n') + "_2");
    expect("third", list.fields()[2]->name, std::string(180, 'n') + "_3");
    expect("text", list.fields()[4]->name, std::string(180, 'n') + "_4");
    // More fields than an event has.
    const FieldList many(std::string(FieldList::kMost + 1, 'i'), {}, &probe);
    expect("too many are refused", many.is_broken() ? "yes" : "no", "yes");
    const FieldList most(std::string(FieldList::kMost, 'i'), {}, &probe);
    expect("the most are not", most.is_broken() ? "yes" : "no", "no");
}

static void items() {
    item(BYTES("\xFB\x3F\xF8\0\0\0\0\0\0"), "1.5");
    item(BYTES("\xFB\xC1\xD0\0\0\0\x40\0\0"), "-1073741825");
    item(BYTES("\xFA\x3F\xC0\0\0"), "1.5");
    item(BYTES("\xF9\x3E\0"), "1.5");
    item(BYTES("\x1B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), "18446744073709551615");
    item(BYTES("\x3B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFE"), "-18446744073709551615");
    item(BYTES("\x43\x01\x02\xFF"), "\"0102ff\"");
    item(BYTES("\x63\"\xC3\xBC"), "\"\\\"\u00fc\"");
    // More than there can be.
    item(BYTES("\x5B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), "null");
    // Keys: an integer, a text, bytes, a float, an array with a text, an array too deep for a key.
    item(BYTES("\xA3\x01\x02\x61k\x03\x41\x0F\x04"), "{\"1\":2,\"k\":3,\"0f\":4}");
    item(BYTES("\xBF\xFB\x3F\xF8\0\0\0\0\0\0\x82\x61\x61\x01\xFF"), "{\"1.5\":[\"a\",1]}");
    item(BYTES("\xA2\x82\x61\x61\x01\x02\x03\x04"), "{\"[\\\"a\\\",1]\":2,\"3\":4}");
    item(BYTES("\xA1\x81\x81\x81\x81\x82\x61q\x07\x05"), "{\"[[[[null]]]]\":5}");
    // Metadata.
    item(BYTES("\xDA\x53\x50\x6D\x64\x82\x67unit=ms\x18\x2A"), "42");
    // Deeper than is shown: what follows is right.
    item(std::string("\x82") + std::string(50, '\x81') + "\x01\x07",
         "[" + std::string(39, '[') + "null" + std::string(39, ']') + ",7]");
}

static void keys() {
    json("{eshop%3A%3ASide|i|1=Buy,2=Sell,;i", BYTES("\2\0\0\0\1\0\0\0\7\0\0\0\3\0\0\0\x08\0\0\0"),
         "{\"Buy\":7,\"3\":8}");
    json("{yi", BYTES("\1\0\0\0\2\0\0\0\xAB\xCD\7\0\0\0"), "{\"abcd\":7}");
    json("{(is)i", BYTES("\1\0\0\0\5\0\0\0\1\0\0\0x\7\0\0\0"), "{\"[5,\\\"x\\\"]\":7}");
    json("{?ss", BYTES("\2\0\0\0\0\1\0\0\0x\1\1\0\0\0k\1\0\0\0y"), "{\"null\":\"x\",\"k\":\"y\"}");
    json("{<shop|a:s,>b", BYTES("\1\0\0\0\1\0\0\0x\1"), "{\"{\\\"a\\\":\\\"x\\\"}\":true}");
    json("{vb", BYTES("\1\0\0\0\2\0\0\0\x61k\1"), "{\"k\":true}");
    json("{fb", BYTES("\1\0\0\0\0\0\xC0\x7F\1"), "{\"nan\":true}");
    json("{ib", BYTES("\1\0\0\0\7\0\0\0\0"), "{\"7\":false}");
    json("ee|A|1=a%22b,;", BYTES("\1"), "\"a\\\"b\"");
}

// A session that cannot be mapped again is not asked for the tracer any more. Another one may be taken.
static void sessions() {
    constexpr std::size_t kSize = 4096, kStates = 3072;
    const auto control = [](int flags) {
        char* const made =
            static_cast<char*>(mmap(nullptr, kSize, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0));
        ControlHeader& header = header_of(made);
        header.states_at = kStates;
        header.sites_cap = 1;
        header.sites_next = 1;
        header.probes_asked = kLttngProbe;
        made[kStates] = kProbedBit | 1;
        return Control{made, kSize};
    };
    constexpr TracerName kName{kLttngProbe, "lttng", "LTTng", ""};
    static SiteEvents<ProbeEvent> events;
    // The kernel maps the pages of shared memory alone a second time.
    const Control own = control(MAP_PRIVATE), shared = control(MAP_SHARED);
    expect("a session that cannot be mapped", events.take(kName, own.base, own.size) ? "taken" : "left",
           "left");
    expect("it is asked for", std::to_string(own.asked().load()), "0");
    expect("its site's state", std::to_string(own.state(0).load()), "1");
    expect("another", events.take(kName, shared.base, shared.size) ? "taken" : "left", "taken");
    expect("is asked for", std::to_string(shared.asked().load()), std::to_string(kLttngProbe));
}

int main() {
    names();
    sessions();
    items();
    keys();
    if (failures == 0) std::puts("all equal");
    return failures;
}
