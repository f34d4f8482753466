// The section silverpoint_sites of this program (spec/sites-section.md): what the macros put there. It is
// read from the program's file, and none of the sites is executed.
#include "listed.hpp"

#include <gtest/gtest.h>
#include <link.h>
#include <sys/auxv.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

SP_CATEGORY("tests.listed")

namespace listed_test {

// Instantiated, never called.
template <class T>
[[gnu::noinline]] void never_for(T value) {
    SP_FATAL("of a template {}", value);
}
template void never_for(int);
template void never_for(const char*);

}  // namespace listed_test

namespace {

struct Entry {
    unsigned kind, level, flags, line;
    std::string category, file, function, names, text;
};

// An ELF file of this machine. (Trusted: it is this program's.)
class Program {
  public:
    explicit Program(const char* path) {
        std::ifstream file(path, std::ios::binary);
        bytes_.assign(std::istreambuf_iterator<char>(file), {});
    }

    std::vector<Entry> entries() const {
        std::vector<Entry> found;
        const auto header = at<ElfW(Ehdr)>(0);
        const auto names = at<ElfW(Shdr)>(header.e_shoff + header.e_shstrndx * sizeof(ElfW(Shdr))).sh_offset;
        for (unsigned i = 0; i < header.e_shnum; ++i) {
            const auto section = at<ElfW(Shdr)>(header.e_shoff + i * sizeof(ElfW(Shdr)));
            if (std::strcmp(&bytes_.at(names + section.sh_name), "silverpoint_sites") != 0) continue;
            EXPECT_EQ(section.sh_flags & SHF_WRITE, 0u);
            for (std::size_t entry = 0; entry < section.sh_size; entry += 64)
                found.push_back(read(section.sh_offset + entry, section.sh_addr + entry));
        }
        return found;
    }

  private:
    template <class T>
    T at(std::size_t offset) const {
        T value{};
        EXPECT_LE(offset + sizeof value, bytes_.size());
        std::memcpy(&value, &bytes_.at(offset), sizeof value);
        return value;
    }

    Entry read(std::size_t offset, std::size_t address) const {
        EXPECT_EQ(at<std::uint32_t>(offset), 64u);
        EXPECT_EQ(at<std::uint8_t>(offset + 4), 1u);
        EXPECT_EQ(at<std::uint32_t>(offset + 12), 1u);  // C++
        EXPECT_EQ(at<std::uint64_t>(offset + 56), 0u);  // no signature
        const auto text = [&](std::size_t number) {
            const std::size_t ref = 16 + 8 * number;
            EXPECT_EQ(at<std::uint32_t>(offset + ref + 4), 0xFFFFFFFF);
            return std::string(at_address(address + ref + at<std::int32_t>(offset + ref)));
        };
        return {at<std::uint8_t>(offset + 5),
                at<std::uint8_t>(offset + 6),
                at<std::uint8_t>(offset + 7),
                at<std::uint32_t>(offset + 8),
                text(0),
                text(1),
                text(2),
                text(3),
                text(4)};
    }

    const char* at_address(std::size_t address) const {
        const auto header = at<ElfW(Ehdr)>(0);
        for (unsigned i = 0; i < header.e_phnum; ++i) {
            const auto segment = at<ElfW(Phdr)>(header.e_phoff + i * sizeof(ElfW(Phdr)));
            if (segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_filesz)
                return &bytes_.at(segment.p_offset + (address - segment.p_vaddr));
        }
        ADD_FAILURE() << "no segment holds " << address;
        return "";
    }

    std::vector<char> bytes_;
};

std::vector<Entry> entries_of(const std::string& function) {
    std::vector<Entry> found;
    for (auto& entry : Program(reinterpret_cast<const char*>(getauxval(AT_EXECFN))).entries())
        if (entry.function.find(function + "(") != std::string::npos) found.push_back(entry);
    return found;
}

// The only entry of a function with this text.
Entry entry_of(const std::string& function, const std::string& text) {
    std::vector<Entry> found;
    for (auto& entry : entries_of(function))
        if (entry.text == text) found.push_back(entry);
    EXPECT_EQ(found.size(), 1u) << function << ": " << text;
    return found.empty() ? Entry{} : found[0];
}

// Never called, and kept all the same.
[[gnu::used, gnu::noinline]] void never(int number, const char* runtime) {
    SP_INFO("template {}", number);
    SP_LOG(warn, "own", "with {}", number);
    SP_LOG(error, runtime, "no category");
    SP_EVENT("event", number, number * 2);
    SP_INFOF("percent %d", number);
    SP_DEBUG << "stream" << number;
    SP_SPAN("span", number);
}
constexpr unsigned kLine = __LINE__ - 8;

[[gnu::used, gnu::noinline]] void never_named() { SP_SCOPE(); }

TEST(Listed, TextsOfTheProgram) {
    const Entry text = entry_of("never", "template {}");
    EXPECT_EQ(text.kind, 0u);
    EXPECT_EQ(text.level, 2u);
    EXPECT_EQ(text.flags & 3u, 1u);
    EXPECT_EQ(text.line, kLine);
    EXPECT_EQ(text.category, "tests.listed");
    EXPECT_TRUE(text.file.ends_with("listed_test.cpp")) << text.file;
    EXPECT_EQ(text.names, "");
    EXPECT_EQ(entry_of("never", "with {}").category, "own");
    EXPECT_EQ(entry_of("never", "no category").category, "");
    EXPECT_EQ(entry_of("never", "percent %d").flags & 3u, 3u);
}

TEST(Listed, NamesAndKinds) {
    const Entry event = entry_of("never", "event");
    EXPECT_EQ(event.kind, 2u);
    EXPECT_EQ(event.names, "number, number * 2");
    const Entry span = entry_of("never", "span");
    EXPECT_EQ(span.kind, 3u);
    EXPECT_EQ(span.names, "number");
    const auto scopes = entries_of("never_named");
    ASSERT_EQ(scopes.size(), 1u);
    EXPECT_EQ(scopes[0].kind, 3u);
    EXPECT_EQ(scopes[0].flags & 32u, 32u);
}

TEST(Listed, StreamsHaveAPlace) {
    unsigned streams = 0;
    for (const auto& entry : entries_of("never"))
        if (entry.kind == 1 && entry.level == 1) {
            ++streams;
            EXPECT_EQ(entry.text, "");
            EXPECT_EQ(entry.line, kLine + 5);
        }
    EXPECT_EQ(streams, 1u);
}

// Two instantiations, and inline functions that another file has, too: in the group of their function.
TEST(Listed, OnceForEachInstantiation) {
    unsigned texts = 0;
    for (const auto& entry : entries_of("never_for")) texts += entry.kind == 0;
    EXPECT_EQ(texts, 2u);
#ifndef __OPTIMIZE__  // which may put what is inline wherever it is used
    EXPECT_EQ(entry_of("listed::shared", "shared {}").line, 8u);
    EXPECT_EQ(entry_of("listed::Shared::run", "in a class").category, "shared.class");
#endif
    EXPECT_EQ(entry_of("listed::other_file", "only here").level, 4u);
}

[[gnu::used]] void never_shared() {
    listed::shared(1);
    listed::Shared{}.run();
}

}  // namespace
