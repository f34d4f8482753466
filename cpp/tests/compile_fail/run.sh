#!/usr/bin/env bash
# Every piece below must not compile, and say why; the first must, so that the others fail for their own reason.
#   run.sh COMPILER INCLUDE
set -u
compiler=$1 include=$2
failed=0 count=0
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

# What all pieces include, compiled once.
printf '#include <%s>\n' map silverpoint/silverpoint.hpp string vector >"$directory/all.hpp"
flags=(-std=c++20 -Wall -Wextra -Werror -I "$include")
"$compiler" "${flags[@]}" -x c++-header "$directory/all.hpp" -o "$directory/all.hpp.gch" || exit 1

# compile STATEMENT [DECLARATION]
compile() {
    cat >"$directory/piece.cpp" <<PIECE
struct Unknown { int x; };
${2:-}
int main() {
    const char* runtime = "{}";
    (void)runtime;
    Unknown unknown{1};
    (void)unknown;
    $1;
}
PIECE
    "$compiler" "${flags[@]}" -fsyntax-only -include "$directory/all.hpp" "$directory/piece.cpp" >"$directory/messages" 2>&1
}
accept() {
    count=$((count + 1))
    compile "$@" || { echo "refused: $*" && cat "$directory/messages" && failed=1; }
}
# refuse WORD-IN-MESSAGE STATEMENT [DECLARATION]
refuse() {
    local word=$1
    shift
    count=$((count + 1))
    if compile "$@"; then
        echo "accepted: $*" && failed=1
    elif ! grep -q -- "$word" "$directory/messages"; then
        echo "refused without \"$word\": $*" && head -20 "$directory/messages" && failed=1
    fi
}

accept 'SP_INFO("{} {:>5} {:.2f} {:x} {:s} {:?} {{}}", 1, "x", 2.5, 7u, true, std::string("q"))'
accept 'SP_INFO("{1} {0} {1}", 1, 2)'
accept 'SP_INFO << "a" << 1 << std::vector<int>{1}'
accept 'SP_EVENT("name", 1, std::string("x"))'
accept 'SP_INFO("x")' 'SP_CATEGORY("one") SP_CATEGORY("one") namespace other { SP_CATEGORY("two") }'
refuse only_one_SP_CATEGORY_in_a_scope 'SP_INFO("x")' 'SP_CATEGORY("one") SP_CATEGORY("two")'
refuse template_has_more_placeholders_than_arguments 'SP_INFO("{} {}", 1)'
refuse template_has_fewer_placeholders_than_arguments 'SP_INFO("{}", 1, 2)'
refuse template_has_fewer_placeholders_than_arguments 'SP_INFO("{0} {0}", 1, 2)'
refuse template_has_more_placeholders_than_arguments 'SP_INFO("{2}", 1, 2)'
refuse template_mixes_automatic_and_explicit_numbers 'SP_INFO("{} {0}", 1, 2)'
refuse template_has_an_unmatched_brace 'SP_INFO("{", 1)'
refuse template_has_an_unmatched_brace 'SP_INFO("}")'
refuse template_has_a_malformed_format_specification 'SP_INFO("{:", 1)'
refuse template_has_a_malformed_format_specification 'SP_INFO("{:.}", 1.5)'
refuse template_has_a_malformed_format_specification 'SP_INFO("{:q}", 1)'
refuse template_has_a_malformed_format_specification 'SP_INFO("{:5d5}", 1)'
refuse template_presentation_does_not_suit_the_argument 'SP_INFO("{:f}", 1)'
refuse template_presentation_does_not_suit_the_argument 'SP_INFO("{:d}", "text")'
refuse template_presentation_does_not_suit_the_argument 'SP_INFO("{:x}", 1.5)'
refuse template_presentation_does_not_suit_the_argument 'SP_INFO("{:.3}", 1)'
refuse template_presentation_does_not_suit_the_argument 'SP_INFO("{:d}", std::vector<double>{})'
refuse template_presentation_does_not_suit_the_argument 'SP_INFO("{:s}", runtime + 0 == nullptr ? 1 : 2)'
refuse template_width_or_precision_exceeds_1000 'SP_INFO("{:1001}", 1)'
refuse '' 'SP_INFO(runtime, 1)'
refuse 'cannot be recorded' 'SP_INFO("{}", unknown)'
refuse 'cannot be recorded' 'SP_INFO << unknown'
refuse 'cannot be recorded' 'SP_EVENT("name", std::vector<Unknown>{})'
refuse '' 'SP_ENABLED(loud)'
accept 'SP_INFO_EVERY_N(3, "{}", 1); SP_WARN_ONCE() << 1; auto span = SP_ASYNC_SPAN("a", 1); SP_COUNTER("c", 1, "ms"); SP_LINK(1, 2)'
refuse template_has_more_placeholders_than_arguments 'SP_INFO_EVERY_N(3, "{}")'
# A signature that no reader takes: a member with a name of 1,100 letters, sixteen times.
wide=$(printf 'm%.0s' {1..1100})
refuse 'a signature of more than 16,384 bytes' 'SP_INFO("{}", (std::pair<Eight, Eight>()))' "
struct Wide { int $wide; };
SP_STRUCT(Wide, $wide)
using Two = std::pair<Wide, Wide>;
using Four = std::pair<Two, Two>;
using Eight = std::pair<Four, Four>;"
refuse 'expected a duration, or a whole number of milliseconds' 'SP_INFO_EVERY(1.5, "x")'
refuse 'an id is a whole number or a pointer' 'SP_ASYNC_BEGIN("a", 1.5)'
refuse 'an id is a whole number or a pointer' 'SP_FLOW_STEP("a", true)'
refuse 'cannot be recorded' 'SP_COUNTER("c", unknown)'
refuse "a counter's value is a number" 'SP_COUNTER("c", std::string("x"), "ms")'
refuse '' 'SP_COUNTER("c", 1, runtime)'
refuse '' 'silverpoint::AsyncSpan a; auto b = a'
accept 'SP_INFOF("%d %5.2f %s %c %p %%", 1, 2.5, "x", 1, (void*)nullptr); SP_INFOF("%*d", 1, 2); SP_INFOF("%s", std::string("x"))'
refuse printf_ends_within_a_conversion 'SP_INFOF("%")'
refuse printf_ends_within_a_conversion 'SP_INFOF("%-5", 1)'
refuse printf_has_an_unknown_conversion 'SP_INFOF("%q", 1)'
refuse printf_has_an_unknown_conversion 'int n = 0; SP_INFOF("%n", &n)'
refuse printf_has_more_conversions_than_arguments 'SP_INFOF("%d %d", 1)'
refuse printf_has_more_conversions_than_arguments 'SP_INFOF("%*d", 1)'
refuse printf_has_fewer_conversions_than_arguments 'SP_INFOF("%d", 1, 2)'
refuse printf_conversion_does_not_suit_the_argument 'SP_INFOF("%d", 1.5)'
refuse printf_conversion_does_not_suit_the_argument 'SP_INFOF("%f", 1)'
refuse printf_conversion_does_not_suit_the_argument 'SP_INFOF("%s", 1)'
refuse printf_conversion_does_not_suit_the_argument 'SP_INFOF("%d", std::vector<int>{})'
refuse printf_conversion_does_not_suit_the_argument 'SP_INFOF("%d", unknown)'
refuse printf_length_modifier_does_not_suit_the_argument 'SP_INFOF("%d", 1L)'
refuse printf_length_modifier_does_not_suit_the_argument 'SP_INFOF("%ld", 1)'
refuse printf_length_modifier_does_not_suit_the_argument 'SP_INFOF("%hhhd", 1)'
refuse printf_length_modifier_does_not_suit_the_argument 'SP_INFOF("%s", L"wide")'
refuse printf_length_modifier_does_not_suit_the_argument 'SP_INFOF("%f", 1.5L)'
refuse printf_width_or_precision_wants_an_int 'SP_INFOF("%*d", 1.5, 2)'
refuse printf_width_or_precision_exceeds_1000 'SP_INFOF("%1001d", 2)'
refuse printf_positional_arguments_are_not_supported 'SP_INFOF("%1$d", 2)'
refuse printf_pointer_to_characters_wants_a_cast_to_void_pointer 'SP_INFOF("%p", runtime)'
refuse '' 'SP_INFOF(runtime, 1)'
accept 'auto s = SP_STREAM(info); s << 1 << "x"; if (s) s << std::vector<int>{1}'
refuse 'cannot be recorded' 'SP_STREAM(info) << unknown'
refuse '' 'auto a = SP_STREAM(info); auto b = a'
accept 'SP_INFO("{:x} {:s} {}", SP_HEX(1), SP_UNIT("x", "B"), SP_SECRET(unknown))'
refuse 'SP_HEX takes integers' 'SP_INFO("{}", SP_HEX(1.5))'
refuse 'SP_HEX takes integers' 'SP_INFO("{}", SP_HEX(std::vector<double>{}))'
refuse template_presentation_does_not_suit_the_argument 'SP_INFO("{:s}", SP_UNIT(1, "ms"))'
refuse 'cannot be recorded' 'SP_INFO("{}", SP_UNIT(unknown, "ms"))'
refuse '' 'SP_INFO("{}", SP_UNIT(1, runtime))'
refuse 'lists classes that derive from the first' '(void)0' '#include <silverpoint/polymorphic.hpp>
struct Base { virtual ~Base() = default; };
SP_DYNAMIC(Base, Unknown)'
refuse 'cannot be recorded' 'const Base& base = Derived(); SP_INFO("{}", base)' '#include <silverpoint/polymorphic.hpp>
struct Base { virtual ~Base() = default; };
struct Derived : Base {};
SP_DYNAMIC(Base, Derived)'
refuse 'SP_TEXT takes what has' 'SP_INFO("{}", SP_TEXT(unknown))' '#include <silverpoint/text.hpp>'
refuse printf_conversion_does_not_suit_the_argument 'SP_INFOF("%d", SP_UNIT(1, "ms"))'
# What contains itself: said in one sentence, not by an endless list of types.
tree='#include <memory>
struct Tree { int value; std::vector<Tree> children; };
SP_STRUCT(Tree, value, children)
struct Pair { std::unique_ptr<Pair> left, right; };
SP_STRUCT_OF(Pair, (left, v.left), (right, v.right))
struct Many : std::vector<Many> {};'
refuse 'describe it with SP_RECURSIVE' 'SP_INFO << Tree()' "$tree"
refuse 'describe it with SP_RECURSIVE' 'SP_EVENT("name", 1, std::map<int, Tree>())' "$tree"
refuse 'describe it with SP_RECURSIVE' 'SP_INFO("{}", Pair())' "$tree"
refuse 'describe it with SP_RECURSIVE' 'SP_INFO("{}", Many())' "$tree"
accept 'SP_INFO("{}", Node())' '#include <silverpoint/recursive.hpp>
struct Node { int value; std::vector<Node> children; };
SP_RECURSIVE(Node, value, children)'
# One error, for the compiler was not sent down into it.
refuse 'describe it with SP_RECURSIVE' 'SP_INFO("{}", Tree())' "$tree"
[ "$(grep -c 'error:' "$directory/messages")" = 1 ] || { echo "more than one error of a type that contains itself:" && cat "$directory/messages" && failed=1; }
# Nesting, as far as readers go.
deep='#include <span>
template <int N> struct Deep { using type = std::span<const typename Deep<N - 1>::type>; };
template <> struct Deep<0> { using type = int; };'
accept 'SP_INFO("{}", Deep<31>::type())' "$deep"
refuse 'nested more than 32 deep' 'SP_INFO("{}", Deep<32>::type())' "$deep"
# Values that cannot be written or read back.
bind='#include <silverpoint/bind.hpp>
#include <string_view>
struct Shown { int x; std::string_view text; };
class Getter { public: int x() const { return 1; } };
struct Fine { int x = 0; };
SP_STRUCT(Shown, x, text)
SP_STRUCT_OF(Getter, (x, v.x()))
SP_STRUCT(Fine, x)
silverpoint::JsonReader reader("{}");
silverpoint::CborWriter writer;'
accept 'Shown a; Getter b; Fine c; (void)(silverpoint::bind(writer, a) && silverpoint::bind(writer, b) && silverpoint::bind(reader, c))' "$bind"
refuse 'values of this type cannot be written' '(void)silverpoint::bind(writer, unknown)' "$bind"
refuse 'values of this type cannot be read' '(void)silverpoint::bind(reader, unknown)' "$bind"
refuse 'a text that is held elsewhere' 'Shown shown; (void)silverpoint::bind(reader, shown)' "$bind"
refuse 'is computed or constant, and cannot be read back' 'Getter getter; (void)silverpoint::bind(reader, getter)' "$bind"
refuse 'SP_DEFAULTS names a member' '(void)0' "$bind
SP_DEFAULTS(Fine, y)"
refuse '' 'silverpoint::bind(writer, 1)' "$bind"
# Levels that are compiled out are checked all the same.
accept '(void)0; SP_TRACE("{}", 1)' '#undef SP_MIN_LEVEL
#define SP_MIN_LEVEL 3'
refuse template_has_more_placeholders_than_arguments 'SP_TRACE("{}")' '#undef SP_MIN_LEVEL
#define SP_MIN_LEVEL 3'

# The header alone leaves nothing in a program, and costs its compilation no code; a tracepoint brings its session.
symbols() {
    printf '#include <silverpoint/silverpoint.hpp>\nvoid piece(int i) { %s }\n' "$1" >"$directory/alone.cpp"
    "$compiler" -std=c++20 -O1 -I "$include" -c "$directory/alone.cpp" -o "$directory/alone.o" && nm "$directory/alone.o" | grep -c silverpoint
}
count=$((count + 2))
[ "$(symbols '(void)i;')" = 0 ] || { echo "the header alone leaves symbols: $(nm -C "$directory/alone.o")" && failed=1; }
[ "$(symbols 'SP_INFO("{}", i);')" -gt 0 ] || { echo "a tracepoint leaves none" && failed=1; }

echo "$count pieces"
exit $failed
