// From readers to writers without a type, and hostile input: nothing that it claims is believed.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "bind_types.hpp"

namespace {

using namespace bound;
using silverpoint::BindError;

template <class Reader, class Writer>
std::string piped(std::string_view from, std::string* error = nullptr) {
    Reader reader(from);
    Writer writer;
    const auto result = silverpoint::pipe(reader, writer);
    const auto end = reader.finish();
    if (error != nullptr) *error = result ? end.text() : result.text();
    return result && end ? std::string(writer.view()) : std::string();
}
std::string vector_file(const char* name) {
    std::ifstream in(std::string(SILVERPOINT_VECTORS) + "/bind/" + name, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}
std::string json_to_cbor(std::string_view text) {
    return to_hex(piped<silverpoint::JsonReader, silverpoint::CborWriter>(text));
}
std::string cbor_to_json(std::string_view hex) {
    return piped<silverpoint::CborReader, silverpoint::JsonWriter>(from_hex(hex));
}
std::string json_to_json(std::string_view text) {
    return piped<silverpoint::JsonReader, silverpoint::JsonWriter>(text);
}

TEST(BindPipe, Values) {
    EXPECT_EQ(json_to_cbor("[1,-1,2.5,0.1,\"t\",null,true,false,{\"a\":[]},1e3]"),
              "8a0120fa40200000fb3fb999999999999a6174f6f5f4a1616180fa447a0000");
    EXPECT_EQ(cbor_to_json("8a0120fa40200000fb3fb999999999999a6174f6f5f4a1616180fa447a0000"),
              "[1,-1,2.5,0.1,\"t\",null,true,false,{\"a\":[]},1000.0]");
    EXPECT_EQ(json_to_json(" [ 1.50 , {\"k\" :\n[ ] } ] "), "[1.50,{\"k\":[]}]");
    EXPECT_EQ(cbor_to_json("9f01bf6161f7ff43010203ff"), "[1,{\"a\":null},\"AQID\"]");
    EXPECT_EQ(cbor_to_json("a20102206161"), "[[1,2],[-1,\"a\"]]");
    EXPECT_EQ(cbor_to_json("c249010000000000000000"), "18446744073709551616");
    EXPECT_EQ(cbor_to_json("3bffffffffffffffff"), "-18446744073709551616");
    EXPECT_EQ(cbor_to_json("d820f93e00"), "1.5");
    EXPECT_EQ(json_to_cbor("18446744073709551616"), "c249010000000000000000");
    // More than 23 of them: the head grows when their number is known.
    std::string many = "[0", hex =
                                 "9818"
                                 "00";
    for (int i = 1; i < 24; ++i) many += ",0", hex += "00";
    EXPECT_EQ(json_to_cbor(many + ']'), hex);
    EXPECT_EQ(json_to_cbor('[' + many + "]]"), "81" + hex);
    std::string error;
    piped<silverpoint::JsonReader, silverpoint::CborWriter>("[1,{\"a\":[2,tru]}]", &error);
    EXPECT_EQ(error, "byte 14 (line 1, column 15), in [1].a[1]: found ']', expected a value");
    EXPECT_EQ(cbor_to_json("a26161000102"), "[[\"a\",0],[1,2]]");
    EXPECT_EQ(json_to_cbor("1000000000000000000000000000000000000000"), json_to_cbor("1e39"));
}

// Without a type nothing changes that the other format can say: spec/bind.md has the table of both languages.
TEST(BindPipe, UntypedVectors) {
    std::vector<Untyped> vectors;
    const auto read = silverpoint::from_json(vector_file("untyped.json"), vectors);
    ASSERT_TRUE(read) << read.text();
    ASSERT_GT(vectors.size(), 40u);
    for (const Untyped& vector : vectors) {
        std::string to_json, to_cbor, json_error, cbor_error;
        silverpoint::Raw raw;
        silverpoint::BindResult taken;
        if (vector.json) {
            to_json = piped<silverpoint::JsonReader, silverpoint::JsonWriter>(*vector.json, &json_error);
            to_cbor = piped<silverpoint::JsonReader, silverpoint::CborWriter>(*vector.json, &cbor_error);
            taken = silverpoint::from_json(*vector.json, raw);
        } else {
            const std::string bytes = from_hex(*vector.cbor);
            to_json = piped<silverpoint::CborReader, silverpoint::JsonWriter>(bytes, &json_error);
            to_cbor = piped<silverpoint::CborReader, silverpoint::CborWriter>(bytes, &cbor_error);
            taken = silverpoint::from_cbor(bytes, raw);
        }
        if (vector.to_json) {
            EXPECT_EQ(to_json, *vector.to_json) << vector.name << ": " << json_error;
        } else {
            EXPECT_EQ(json_error, *vector.error) << vector.name;
        }
        if (vector.error) {
            EXPECT_EQ(cbor_error, *vector.error) << vector.name;
            EXPECT_EQ(taken.text(), *vector.error) << vector.name;
            continue;
        }
        EXPECT_EQ(to_hex(to_cbor), *vector.to_cbor) << vector.name << ": " << cbor_error;
        ASSERT_TRUE(taken) << vector.name << ": " << taken.text();
        EXPECT_EQ(cbor(raw), *vector.to_cbor) << vector.name;
        EXPECT_EQ(json(raw), vector.again ? *vector.again : *vector.to_json) << vector.name;
    }
}

TEST(BindPipe, LargestBignum) {
    EXPECT_EQ(cbor_to_json("c2590400" + std::string(2048, 'f')).size(), 2467u);
    std::string error;
    piped<silverpoint::CborReader, silverpoint::JsonWriter>(from_hex("c2590401" + std::string(2050, 'f')),
                                                            &error);
    EXPECT_EQ(error, "byte 0: found a bignum, expected an integer of 128 bits");
    double real = 0;
    EXPECT_TRUE(silverpoint::from_cbor(from_hex("c349010000000000000000"), real));
    EXPECT_EQ(real, -18446744073709551617.0);
}

TEST(BindPipe, TypedAndUntypedAgree) {
    Order order{7, Side::Sell, 1.25, 3, "s\"y", "note", {"a", "b"}, Point{1, 2}};
    const std::vector<Order> orders(30, order);
    EXPECT_EQ(json_to_cbor(json(orders)), cbor(orders));
    EXPECT_EQ(cbor_to_json(cbor(orders)), json(orders));
    EXPECT_EQ(json_to_json(json(orders)), json(orders));
}

TEST(BindPipe, Rest) {
    Keeping kept;
    ASSERT_TRUE(silverpoint::from_json("{\"u\":{\"v\":[1.5,\"x\"]},\"a\":4,\"rest\":1}", kept));
    EXPECT_EQ(json(kept), "{\"a\":4,\"u\":{\"v\":[1.5,\"x\"]},\"rest\":1}");
    Keeping other;
    ASSERT_TRUE(silverpoint::from_cbor(from_hex(cbor(kept)), other));
    EXPECT_EQ(kept.rest, other.rest);
    kept.rest.members[0].second.cbor = "\x9A";
    std::string out;
    EXPECT_FALSE(silverpoint::to_json(kept, out));
    EXPECT_FALSE(silverpoint::to_cbor(kept, out));
    EXPECT_EQ(out, "");
}

TEST(BindHostile, ClaimedLengths) {
    // A hundred bytes that claim four thousand million of anything.
    for (const char* head : {"9affffffff", "baffffffff", "7affffffff", "5affffffff", "9bffffffffffffffff",
                             "bbffffffffffffffff", "7bffffffffffffffff", "5bffffffffffffffff"}) {
        const std::string bytes = from_hex(head) + std::string(95, '\0');
        std::vector<std::uint64_t> numbers;
        std::string text;
        std::vector<std::byte> blob;
        std::map<std::string, int> map;
        silverpoint::Raw raw;
        EXPECT_FALSE(silverpoint::from_cbor(bytes, numbers));
        EXPECT_FALSE(silverpoint::from_cbor(bytes, text));
        EXPECT_FALSE(silverpoint::from_cbor(bytes, blob));
        EXPECT_FALSE(silverpoint::from_cbor(bytes, map));
        EXPECT_FALSE(silverpoint::from_cbor(bytes, raw));
        EXPECT_LE(numbers.capacity() + blob.capacity(), bytes.size());
        EXPECT_EQ(cbor_to_json(to_hex(bytes)), "");
    }
    // As many as it claims do follow: memory is asked for ahead only so far.
    std::vector<std::array<std::uint64_t, 64>> large;
    std::string bytes = from_hex("9a000f4240") + std::string(1'000'000, '\xF6');
    EXPECT_FALSE(silverpoint::from_cbor(bytes, large));
    EXPECT_LE(large.capacity(), 200u);
}

// Integers beyond 128 bits, and tags without end: refused, with an error that ends.
TEST(BindHostile, Bignums) {
    for (const std::string& bytes :
         {from_hex("c251") + std::string(17, '\xFF'), from_hex("c250") + std::string(16, '\xFF'),
          from_hex("c351") + std::string(17, '\xFF'), std::string(100'000, '\xC2')}) {
        int number = 0;
        const auto result = silverpoint::from_cbor(bytes, number);
        ASSERT_FALSE(result);
        EXPECT_NE(result.text(), "");
        std::string error;
        piped<silverpoint::CborReader, silverpoint::JsonWriter>(bytes, &error);
        EXPECT_EQ(error.empty(), bytes.size() < 100'000) << error;
    }
    EXPECT_EQ(cbor_to_json("c250" + std::string(32, 'f')), "340282366920938463463374607431768211455");
    // The error names the number that does not fit, as far as it is known.
    const auto told = [](std::string_view hex) {
        std::uint8_t number = 0;
        return silverpoint::from_cbor(from_hex(hex), number).text();
    };
    EXPECT_NE(told("c2420100").find("the number 256"), std::string::npos) << told("c2420100");
    EXPECT_NE(told("c342ffff").find("the number -65536"), std::string::npos) << told("c342ffff");
    EXPECT_NE(told("c250" + std::string(32, 'f')).find("a bignum"), std::string::npos);
}

// Pieces are handed on wherever the writer asks for room, also between an element and the end of its array.
TEST(BindPipe, PiecesEndAnywhere) {
    std::string elements, keys;
    for (int i = 0; i < 20'000; ++i) elements += ",[null]", keys += ",{\"k\":[1]}";
    for (std::size_t filling = 0; filling < 64; ++filling) {
        for (const std::string& rest : {elements, keys}) {
            const std::string text = "[\"" + std::string(filling, 'x') + '"' + rest + ']';
            std::string pieces;
            const auto take = [](void* to, const char* data, std::size_t size) {
                static_cast<std::string*>(to)->append(data, size);
                return true;
            };
            silverpoint::JsonReader reader(text);
            silverpoint::JsonWriter writer(take, &pieces);
            ASSERT_TRUE(silverpoint::pipe(reader, writer));
            ASSERT_TRUE(writer.finish());
            ASSERT_EQ(pieces, text);
        }
    }
}

// A document of any shape, as text.
std::string any_document(std::mt19937& random, int depth) {
    const auto pick = [&](unsigned below) { return static_cast<unsigned>(random()) % below; };
    const auto word = [&] {
        std::string text = "\"";
        for (unsigned i = pick(20); i > 0; --i) {
            static constexpr const char* kPieces[] = {"a",       "B", "\\n",        "\\\"", "\u00e9",
                                                      "\\u20ac", " ", "\U0001F600", "x",    "/"};
            text += kPieces[pick(10)];
        }
        return text + '"';
    };
    switch (pick(depth == 0 ? 6 : 8)) {
        case 0:
            return std::to_string(static_cast<int>(random()));
        case 1:
            return "-" + std::to_string(random()) + "." + std::to_string(random()) + "e" +
                   std::to_string(static_cast<int>(pick(40)) - 20);
        case 2:
            return word();
        case 3:
            return pick(2) == 0 ? "true" : "false";
        case 4:
            return "null";
        case 5:
            return std::to_string(random()) + std::to_string(random()) + std::to_string(random());
        case 6: {
            std::string text = "[";
            for (unsigned i = 0, n = pick(30); i < n; ++i)
                text += (i == 0 ? "" : ", ") + any_document(random, depth - 1);
            return text + "]";
        }
        default: {
            std::string text = "{";
            for (unsigned i = 0, n = pick(8); i < n; ++i)
                text += (i == 0 ? "" : ",") + word() + " :" + any_document(random, depth - 1);
            return text + "}";
        }
    }
}

// All readers look at the same bytes. At worst there is an error.
void read_all(const std::string& bytes) {
    const std::unique_ptr<char[]> exact(
        new char[bytes.size() + 1]);  // so that a sanitizer sees a step beyond
    std::memcpy(exact.get() + 1, bytes.data(), bytes.size());
    const std::string_view view(exact.get() + 1, bytes.size());
    const auto read = [&]<class T>(T value) {
        const auto json = silverpoint::from_json(view, value);
        if (!json) {
            EXPECT_LE(json.error().offset, view.size());
            EXPECT_FALSE(json.text().empty());
        }
        const auto cbor = silverpoint::from_cbor(view, value);
        if (!cbor) {
            EXPECT_LE(cbor.error().offset, view.size());
        }
    };
    read(All());
    read(std::vector<Order>());
    read(Keeping());
    read(std::vector<double>());
    silverpoint::JsonReader a(view), b(view);
    silverpoint::CborReader c(view), d(view);
    silverpoint::JsonWriter text;
    silverpoint::CborWriter item;
    (void)silverpoint::pipe(a, text);
    (void)silverpoint::pipe(b, item);
    (void)silverpoint::pipe(c, text);
    (void)silverpoint::pipe(d, item);
}

// SILVERPOINT_BIND_ROUNDS makes it longer.
unsigned rounds() {
    const char* said = std::getenv("SILVERPOINT_BIND_ROUNDS");
    return said != nullptr ? static_cast<unsigned>(std::strtoul(said, nullptr, 10)) : 300;
}

TEST(BindHostile, AnyDocument) {
    std::mt19937 random(1);
    for (unsigned round = 0; round < rounds(); ++round) {
        const std::string text = json_to_json(any_document(random, 4));
        ASSERT_NE(text, "");
        const std::string bytes = json_to_cbor(text), back = cbor_to_json(bytes);
        EXPECT_EQ(json_to_cbor(back), bytes) << text;
    }
}

TEST(BindHostile, Mutations) {
    std::mt19937 random(2);
    All all;
    all.words = "some \u00e9 text \\ \" that is longer than a block";
    all.blob.resize(5);
    all.list = {1, 2, 3};
    all.names = {{"k", 1}};
    all.codes = {{1, "one"}};
    all.nested = std::make_unique<Order>();
    all.nested->tags = {"x", "y"};
    const std::string seeds[] = {json(all), from_hex(cbor(all)), any_document(random, 3),
                                 from_hex(json_to_cbor(any_document(random, 3)))};
    for (const std::string& seed : seeds) {
        for (std::size_t size = 0; size < seed.size() && size < 400; ++size) read_all(seed.substr(0, size));
        for (unsigned round = 0; round < 10 * rounds(); ++round) {
            std::string bytes = seed;
            for (unsigned n = random() % 4 + 1; n > 0 && !bytes.empty(); --n) {
                const std::size_t at = random() % bytes.size();
                switch (random() % 4) {
                    case 0:
                        bytes[at] = static_cast<char>(random());
                        break;
                    case 1:
                        bytes[at] = static_cast<char>(bytes[at] ^ 1 << random() % 8);
                        break;
                    case 2:
                        bytes.erase(at, random() % 9);
                        break;
                    default:
                        bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 9));
                        break;
                }
            }
            read_all(bytes);
        }
    }
}

}  // namespace
