#!/bin/sh
# Programs that can have no session: each is told on standard error, and by what its calls return. First because files may not be as large, then
# because SILVERPOINT_DIR names what is refused, which the reason must name.
# no_session.sh PROGRAM…
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0
for program in "$@"; do
    mkdir -m 700 "$scratch/sessions"
    # 10 MB (in blocks of 512 bytes).
    (ulimit -f 20000; SILVERPOINT_DIR=$scratch/sessions timeout 300 "$program" 2>"$scratch/said") || { echo "$program: it was not told"; status=1; }
    grep -q -e 'nothing can be recorded' -e 'the disk is on fire' "$scratch/said" || { echo "$program: standard error has nothing"; cat "$scratch/said"; status=1; }
    echo "$(basename "$program"): $(head -n 1 "$scratch/said")"
    chmod 755 "$scratch/sessions"
    SILVERPOINT_DIR=$scratch/sessions timeout 300 "$program" 2>"$scratch/said" || { echo "$program: it was not told that the directory is refused"; status=1; }
    grep -q -e "recorded: SILVERPOINT_DIR names $scratch/sessions, which is no directory of mode 0700" -e 'the disk is on fire' "$scratch/said" || { echo "$program: the reason is another"; cat "$scratch/said"; status=1; }
    rm -r "$scratch/sessions"
done
exit $status
