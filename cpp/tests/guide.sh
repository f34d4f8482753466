#!/usr/bin/env bash
# Compiles every C++ and C snippet of the guide, each a file of its own: guide.sh COMPILER INCLUDE_DIR PAGE…
# (C by CC, cc when it is not set; C++ with GUIDE_FLAGS). A page may be a Rust file, whose comments `//!` are meant.
set -euo pipefail
compiler=$1 include=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
for page in "$@"; do
    # A file for each block: PAGE-LINE.cpp, its lines counted as in the page, so that errors name the place.
    awk -v work="$work" -v page="$page" '
        page ~ /\.rs$/ && !sub(/^\/\/! ?/, "") { exit }
        /^```(cpp|c)$/ { n = split(page, parts, "/"); file = work "/" parts[n] "-" NR "." substr($0, 4); printf "#line %d \"%s\"\n", NR + 1, page > file; next }
        /^```$/ { if (file) close(file); file = "" }
        file { print > file }' "$page"
done
check() {
    case $3 in
    *.cpp) "$1" -std=c++20 -Wall -Wextra -Werror -fsyntax-only ${GUIDE_FLAGS-} -I "$2" "$3" ;;
    *) "${CC:-cc}" -std=c11 -pedantic -Wall -Wextra -Werror -c -o /dev/null -I "$2" "$3" ;;
    esac
}
export -f check
shopt -s nullglob
files=("$work"/*.cpp "$work"/*.c)
count=${#files[@]}
printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 1 bash -c 'check "$@"' check "$compiler" "$include"
echo "$count snippets"
# A guide without snippets would pass all too easily.
[ "$count" -ge 3 ]
