#!/bin/sh
# What the header for C accepts without a warning, and what it refuses: c_refused.sh COMPILER INCLUDE
set -u
compiler=$1 include=$2
failed=0 count=0
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

# compile STATEMENT [OPTIONS [DECLARATION]]
compile() {
    cat >"$directory/piece.c" <<PIECE
#include <silverpoint/silverpoint.h>
#include <stdint.h>
${3:-}
struct unknown { int x; };
int main(void) {
    struct unknown unknown = {1};
    (void)unknown;
    $1;
    return 0;
}
PIECE
    # shellcheck disable=SC2086 # several words
    "$compiler" -std=c11 -O1 -c -Wall -Wextra -Wformat=2 -Wshadow -Wconversion -Werror -pedantic ${2:-} -I "$include" -o "$directory/piece.o" "$directory/piece.c" >"$directory/messages" 2>&1
}
accept() {
    count=$((count + 1))
    compile "$@" || { echo "refused: $*" && cat "$directory/messages" && failed=1; }
}
refuse() {
    word=$1
    shift
    count=$((count + 1))
    if compile "$@"; then
        echo "accepted: $*" && failed=1
    elif ! grep -q -- "$word" "$directory/messages"; then
        echo "refused without \"$word\": $*" && head -20 "$directory/messages" && failed=1
    fi
}

accept 'SP_INFO("plain")'
accept 'SP_INFO("%d %5.2f %s %c %p %% %zu %lld", 1, 2.5, "x", 65, (void*)&unknown, sizeof unknown, 1LL)'
accept 'SP_EVENT("name"); SP_EVENT("name", 1, 2.5f, "x", &unknown, (char)65); SP_INSTANT("i")'
accept 'SP_SPAN("a"); SP_SPAN("b", 1); sp_span s = SP_SPAN_BEGIN("c", 1); SP_SPAN_END(s); SP_SCOPE()'
accept 'SP_COUNTER("a", 1); SP_COUNTER("a", 1.5, "ms"); SP_LOG(warn, "net", "%d", 1)'
accept 'SP_ASYNC_BEGIN("a", 1u, 2); SP_ASYNC_END("a", 1); SP_FLOW_STEP("f", 7LL); SP_LINK(1, 2)'
# A block's category shadows the file's, which is what it is for.
accept 'SP_CATEGORY("inner"); SP_INFO("%s %s", SP_TEXT_N("abc", 2), SP_SECRET(unknown.x))' -Wno-shadow
accept 'if (SP_ENABLED(debug)) SP_DEBUG("x"); else SP_TRACE("y")'
accept 'SP_INFO("%d", 1); SP_FATAL("%s", "x")' -DSP_MIN_LEVEL=6
accept 'SP_INFO("%d", 1)' -DSP_NO_SITE_SECTION
accept 'SP_INFO("%d", 1)' -std=gnu2x
accept 'SP_INFO("%d %s", 1, "x"); SP_SPAN("s", 1)' -O0
accept 'SP_INFO_EVERY_N(100, "%d", 1); SP_WARN_EVERY(500, "x"); SP_ERROR_FIRST_N(3u, "%s", "x"); SP_FATAL_ONCE("x"); SP_DEBUG_IF(unknown.x > 0, "x")'
accept 'SP_EVENT_EVERY_N(2, "e", 1); SP_EVENT_EVERY(1000L, "e"); SP_EVENT_FIRST_N(2, "e"); SP_EVENT_ONCE("e", 1); SP_EVENT_IF(true, "e")'
accept 'SP_INFO_EVERY_N(100, "%d", 1); SP_EVENT_ONCE("e", 1)' -DSP_MIN_LEVEL=6
accept 'SP_CONTEXT("a", 1, "b", 2.5); SP_CONTEXT("c", "x"); sp_context c = SP_CONTEXT_BEGIN("d", unknown.x); SP_CONTEXT_END(c)'
accept 'SP_CONTEXT("a", 1, "b", 2, "c", 3, "d", 4, "e", 5, "f", 6, "g", 7, "h", 8)' -O0
# Texts that -pedantic warns of, as they are not of C11.
accept 'SP_INFO("%m %2$s %1$d", 1, "x")' '-Wno-format -Wno-pedantic'
accept 'SP_INFO("%m %1$d"); SP_INFO("%2$s", 1, "x")' '-Wno-format -Wno-pedantic -O0'
refuse only_one_SP_CATEGORY_in_a_file 'SP_INFO("x")' -O1 'SP_CATEGORY("one"); SP_CATEGORY("two");'
# What the assembler would refuse without saying why.
refuse 'is a string literal' 'SP_INFO(unknown.x ? "a %d" : "b %d", unknown.x)'
refuse 'is a string literal' 'const char* volatile text = "x"; SP_EVENT(text, 1)'
accept 'static const char text[] = "x %d"; SP_INFO(text, 1)'
refuse 'in turn' 'SP_CONTEXT("a", 1, "b")'
refuse 'name is a text' 'SP_CONTEXT("a", 1, 2, "b")'
refuse sp_c_of_pointer 'SP_CONTEXT("a", unknown)'
refuse format 'SP_INFO_EVERY_N(3, "%d", 2.5)'
refuse 'whole number' 'SP_INFO_EVERY(0.5, "half a second is 500")'
refuse format 'SP_INFO("%d", 2.5)'
refuse format 'SP_INFO("%s", 1)'
refuse format 'SP_INFO("%d %d", 1)'
refuse format 'SP_INFO("%d", 1, 2)'
refuse format 'SP_INFO("%ld", 1)'
refuse format 'SP_TRACE("%d", 2.5)' -DSP_MIN_LEVEL=3
refuse sp_c_of_pointer 'SP_EVENT("name", unknown)'
refuse more_than_16 'SP_EVENT("n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)'
refuse loud 'SP_ENABLED(loud)'
echo "$count pieces"
exit $failed
