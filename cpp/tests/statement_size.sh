#!/usr/bin/env bash
# How much code a statement adds to an unoptimised program: statement_size.sh COMPILER INCLUDE_DIR MOST HEADER STATEMENT [FLAG…]
#
# The statement is compiled in 2 and in 42 functions, with a literal of another length in each (LITERAL). At most MOST bytes a function may
# be between the two. What each statement makes anew is compiled anew, so this bounds the time to compile as well.
set -euo pipefail
compiler=$1 include=$2 most=$3 header=$4 statement=$5
shift 5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# size COUNT: bytes of code in an object with so many.
size() {
    local count=$1 literal=text i
    shift
    {
        printf '#include <%s>\n' "$header"
        for i in $(seq "$count"); do
            literal+=.
            printf 'void f%d(int a, double b) { %s; }\n' "$i" "${statement//LITERAL/\"$literal\"}"
        done
    } >"$work/$count.cpp"
    "$compiler" -std=c++20 -O0 -fPIC -I "$include" "$@" -c "$work/$count.cpp" -o "$work/$count.o"
    command size -A "$work/$count.o" | awk '$1 ~ /^\.text/ { sum += $2 } END { print sum }'
}
few=$(size 2 "$@")
many=$(size 42 "$@")
each=$(((many - few) / 40))
echo "$each bytes a statement, at most $most: $statement"
[ "$each" -gt 0 ] && [ "$each" -le "$most" ]
