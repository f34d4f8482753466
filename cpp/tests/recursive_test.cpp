// Types that contain themselves.
#include <map>
#include <memory>
#include <silverpoint/recursive.hpp>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <vector>

#include "support/traced.hpp"

namespace shapes {
struct Node {
    int value = 0;
    std::vector<Node> children;
};
struct Link {
    std::string name;
    std::shared_ptr<Link> next;
};
struct Holder {
    std::map<std::string, Node> nodes;
};
}  // namespace shapes
SP_RECURSIVE(shapes::Node, value, children)
SP_RECURSIVE(shapes::Link, name, next)
SP_STRUCT(shapes::Holder, nodes)

namespace {

using shapes::Node;
using traced::one;

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
    return found;
}

// In CBOR, as the tests show it: the key `value`, the key `children`, the mark.
const std::string kValue = "79:00:05:76:61:6c:75:65", kMark = "79:00:03:e2:80:a6";

TEST(Recursive, ATreeIsOneItem) {
    const Node tree{1, {{2, {}}, {3, {{4, {}}}}}};
    SP_INFO("{}", tree);
    const auto seen = one();
    EXPECT_EQ(seen.site.signature, "v");
    EXPECT_EQ(count(seen.text, kValue), 4u) << seen.text;
    EXPECT_EQ(count(seen.text, kMark), 0u);
    SP_EVENT("pieces", tree, 5);
    EXPECT_EQ(one().site.signature, "vi");
    SP_STREAM(info) << tree;
    EXPECT_EQ(count(one().text, kValue), 4u);
}

TEST(Recursive, InsideOthers) {
    const shapes::Holder holder{{{"a", {1, {}}}, {"b", {2, {{3, {}}}}}}};
    SP_INFO("{}", holder);
    auto seen = one();
    EXPECT_EQ(seen.site.signature, "<shapes%3A%3AHolder|nodes:{sv,>");
    EXPECT_EQ(count(seen.text, kValue), 3u) << seen.text;
    SP_INFO("{}", std::vector<Node>{{1, {}}, {2, {}}});
    EXPECT_EQ(one().site.signature, "[v");
}

TEST(Recursive, AnEndAtTheDepth) {
    // A ring of pointers.
    const auto first = std::make_shared<shapes::Link>(shapes::Link{"first", nullptr});
    first->next = std::make_shared<shapes::Link>(shapes::Link{"second", first});
    SP_INFO("{}", *first);
    const auto seen = one();
    EXPECT_EQ(count(seen.text, kMark), 1u) << seen.text;
    EXPECT_EQ(count(seen.text, "79:00:04:6e:61:6d:65"), 8u) << "levels";
    EXPECT_FALSE((seen.record.flags & 1) != 0) << "the depth has its own mark";
    first->next = nullptr;
}

TEST(Recursive, WhatDoesNotFitIsShownLessDeep) {
    Node wide{0, std::vector<Node>(10, Node{1, std::vector<Node>(30, Node{2, {}})})};
    SP_INFO("{}", wide);
    auto seen = one();
    // Whole it would be more than 300 nodes; without the lowest level it fits.
    EXPECT_GT(count(seen.text, kMark), 0u);
    EXPECT_GT(count(seen.text, kValue), 0u);
    EXPECT_TRUE((seen.record.flags & 1) != 0) << "it is marked as cut";
    wide.children.resize(5000);
    SP_INFO("{}", wide);
    seen = one();
    EXPECT_EQ(seen.text, "v:" + kMark);
    EXPECT_TRUE((seen.record.flags & 1) != 0);
}

}  // namespace
