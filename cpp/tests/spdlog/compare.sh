#!/usr/bin/env bash
# The same program with spdlog and with Silverpoint in its place: all that both write is the same, but for the time and numbers of threads.
#   compare.sh PROGRAM_OF_SPDLOG PROGRAM_OF_SILVERPOINT
set -euo pipefail
theirs=$1 ours=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SILVERPOINT SILVERPOINT_FILTER SPDLOG_LEVEL

# Digits of times and numbers, and names of days and months, by their shape.
shape() { sed -E 's/(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?\b/DAY/g; s/\b(Jan(uary)?|Feb(ruary)?|Mar(ch)?|Apr(il)?|May|June?|July?|Aug(ust)?|Sep(tember)?|Oct(ober)?|Nov(ember)?|Dec(ember)?)\b/MONTH/g; s/\b[AP]M\b/XM/g; s/[0-9]/0/g'; }
# Otherwise only the time in front.
front() { sed -E 's/^\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\]/[TIME]/'; }

run() { # NAME PROGRAM PART
    mkdir -p -m 700 "$work/$1/$3/out" "$work/sessions"
    (cd "$work/$1/$3/out" && TMPDIR=$work SILVERPOINT_DIR=$work/sessions "$2" "$3" . >stdout 2>stderr) || echo "exit $?" >>"$work/$1/$3/out/stdout"
    # A thread's number has as many digits as it has: one is enough.
    find "$work/$1/$3/out" -type f -not -path '*.spool/*' | sort | while read -r file; do
        echo "--- ${file#"$work/$1/$3/out/"}"
        if [ "$3" = patterns ]; then shape <"$file" | sed -E 's/^0+ 0+ message/PID TID message/'; else front <"$file"; fi
    done >"$work/$1/$3.text"
}

failed=0
for part in formats levels loggers files customs patterns combined kept network; do
    run theirs "$theirs" "$part"
    run ours "$ours" "$part"
    if ! diff -u "$work/theirs/$part.text" "$work/ours/$part.text"; then
        echo "$part: not the same"
        failed=1
    fi
    # Both wrote nothing: that would be the same, too.
    [ "$(wc -l <"$work/theirs/$part.text")" -ge 5 ] || { echo "$part: hardly anything to compare"; failed=1; }
done
wc -l "$work"/theirs/*.text | tail -1
exit $failed
