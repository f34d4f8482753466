#!/usr/bin/env bash
# Compiles every C++ and C snippet of the guide, each a file of its own: guide.sh COMPILER INCLUDE_DIR PAGE…
# (C by CC, cc when it is not set; C++ with GUIDE_FLAGS). A page may be a Rust file, whose comments `//!` are meant.
# With GUIDE_RUN, a shared library, snippets of C are programs: they are linked with it and run, and must exit with 0.
set -euo pipefail
compiler=$1 include=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -n "${GUIDE_RUN-}" ]; then
    unset SILVERPOINT SILVERPOINT_FILTER
    export SILVERPOINT_DIR=$work/sessions
    mkdir -m 700 "$SILVERPOINT_DIR"
fi
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
    *)
        local -a c=("${CC:-cc}" -std=c11 -pedantic -Wall -Wextra -Werror -I "$2")
        [ -n "${GUIDE_RUN-}" ] || { "${c[@]}" -c -o /dev/null "$3"; return; }
        "${c[@]}" -o "$3.program" "$3" "$GUIDE_RUN" -Wl,-rpath,"$(dirname "$GUIDE_RUN")" || return 1
        "$3.program" || { echo "$3: exit status $?" >&2; return 1; }
        ;;
    esac
}
export -f check
shopt -s nullglob
files=("$work"/*.cpp "$work"/*.c)
count=${#files[@]}
printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 1 bash -c 'check "$@"' check "$compiler" "$include"
echo "$count snippets"
# A guide without snippets would pass all too easily.
[ "$count" -ge "$([ -n "${GUIDE_RUN-}" ] && echo 1 || echo 3)" ]
