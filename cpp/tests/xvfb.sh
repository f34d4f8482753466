#!/bin/sh
# Runs a program of Qt's in a window system of its own: xvfb.sh PROGRAM [ARGUMENT…]. Without Xvfb it says so, and ends with 77: skipped.
set -u
if ! command -v Xvfb >/dev/null; then
    echo "skipped: there is no Xvfb (Debian: xvfb)" >&2
    exit 77
fi
scratch=$(mktemp -d)
Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp 3>"$scratch/display" 2>"$scratch/log" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
tries=0
while [ ! -s "$scratch/display" ]; do
    tries=$((tries + 1))
    if [ $tries -gt 3000 ] || ! kill -0 $server 2>/dev/null; then
        cat "$scratch/log" >&2
        exit 1
    fi
    sleep 0.1
done
DISPLAY=:$(cat "$scratch/display") QT_QPA_PLATFORM=xcb "$@"
