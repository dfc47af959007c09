#!/bin/sh
# run.sh FUZZER CORPUS: tries what the corpus holds and what comes of it, for ten seconds, or $FUZZ_SECONDS, or $FUZZ_RUNS inputs. What
# it finds lies in the folder that it names; the corpus stays as it is.
set -eu
found=$(mktemp -d "${TMPDIR:-/tmp}/espalier-fuzz-XXXXXX")
mkdir "$found/inputs"
limit=-max_total_time=${FUZZ_SECONDS:-10}
[ -z "${FUZZ_RUNS:-}" ] || limit=-runs=$FUZZ_RUNS
# An input that takes 5 s is slow, one that takes 2 GiB is large; either is a find, as a crash is.
if "$1" "$limit" -timeout=5 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 "-artifact_prefix=$found/" "$found/inputs" "$2" > "$found/log" 2>&1; then
  tail -n 8 "$found/log"
  rm -rf "$found"
else
  tail -n 60 "$found/log"
  echo "found, and kept: $found; again: $1 $found/crash-..."
  exit 1
fi
