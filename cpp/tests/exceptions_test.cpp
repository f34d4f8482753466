// Exceptions with their causes, as far as a compiler without exceptions or type information knows them.
#include <exception>
#include <new>
#include <silverpoint/exceptions.hpp>
#include <silverpoint/silverpoint.hpp>
#include <stdexcept>
#include <string>

#include "support/expect_value.hpp"

#ifndef __cpp_exceptions
// An exception that a part of the program with exceptions threw (exceptions_thrower.cpp).
std::exception_ptr thrown_elsewhere(const char* text);
#endif

namespace {

using silverpoint::causes;

TEST(Exceptions, SayWhatTheySayWithoutBeingThrown) {
    EXPECT_VALUE("[s", "[\"broken\"]", causes(std::runtime_error("broken")));
    EXPECT_VALUE("[s", "[\"std::bad_alloc\"]", causes(std::bad_alloc()));
    EXPECT_VALUE("s", "\"broken\"", std::runtime_error("broken"));
    EXPECT_VALUE("[s", "[]", causes(std::exception_ptr()));
    EXPECT_VALUE("[s", "[]", causes(std::current_exception()));
}

struct Silent : std::exception {
    const char* what() const noexcept override { return nullptr; }
};

TEST(Exceptions, MaySayNothing) { EXPECT_VALUE("[s", "[\"\"]", causes(Silent())); }

#ifdef __cpp_exceptions
TEST(Exceptions, HaveCauses) {
    const std::string all = "[\"cannot load\", \"cannot read\", \"(not a std::exception)\"]";
    std::exception_ptr caught;
    try {
        try {
            try {
                throw 7;
            } catch (...) {
                std::throw_with_nested(std::runtime_error("cannot read"));
            }
        } catch (...) {
            std::throw_with_nested(std::logic_error("cannot load"));
        }
    } catch (const std::exception& error) {
        caught = std::current_exception();
        EXPECT_VALUE("[s", all, causes(error));
        // One that is not the one being handled.
        EXPECT_VALUE("[s", "[\"other\"]", causes(std::runtime_error("other")));
    }
    EXPECT_VALUE("[s", all, causes(caught));
    EXPECT_VALUE("[s", "[\"(not a std::exception)\"]", causes(std::make_exception_ptr(7)));
    // One that has causes and is no std::exception.
    struct Tag {};
    try {
        try {
            throw std::runtime_error("cannot read");
        } catch (...) {
            std::throw_with_nested(Tag());
        }
    } catch (const Tag&) {
        EXPECT_VALUE("[s", "[\"(not a std::exception)\", \"cannot read\"]", causes(std::current_exception()));
    }
}

TEST(Exceptions, LongAndManyAreKeptAsFarAsTheyFit) {
    std::exception_ptr deep = std::make_exception_ptr(std::runtime_error(std::string(600, 'x')));
    for (int level = 0; level < 20; ++level) {
        try {
            try {
                std::rethrow_exception(deep);
            } catch (...) {
                std::throw_with_nested(std::runtime_error(std::string(300, 'y')));
            }
        } catch (...) {
            deep = std::current_exception();
        }
    }
    const auto all = causes(deep);
    EXPECT_EQ(all.size(), silverpoint::Causes::kMost);
    std::size_t bytes = 0;
    for (const auto text : all) bytes += text.size();
    EXPECT_EQ(bytes, 1000u);
}
#else
TEST(Exceptions, BehindAPointerAreUnknownWithoutExceptions) {
    EXPECT_VALUE("[s", "[\"(unknown: compiled without exceptions)\"]", causes(thrown_elsewhere("broken")));
}
#endif

}  // namespace
