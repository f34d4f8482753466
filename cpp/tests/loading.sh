#!/bin/sh
# Libraries that log while they are loaded and unloaded: nothing hangs, nothing is lost, each flush succeeds.
# loading.sh HOST LIBRARY…
set -u
host=$1
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0
for library in "$@"; do
    for extra in '' at-once; do
        mkdir -m 700 "$scratch/sessions"
        # shellcheck disable=SC2086 # none or one word
        LOADING_LOG=$scratch/log SILVERPOINT_DIR=$scratch/sessions timeout 300 "$host" "$library" $extra 2>"$scratch/said" || { echo "$library: exit status $?"; status=1; }
        for line in 'in the constructor' 'in the destructor' ${extra:-'at work'}; do
            [ "$line" = at-once ] || cat "$scratch"/log* | grep -q "$line" || { echo "$library $extra: the log has no line '$line'"; status=1; }
        done
        if grep . "$scratch/said"; then status=1; fi
        rm -rf "$scratch"/sessions "$scratch"/log*
    done
    echo "$(basename "$library"): done"
done
exit $status
