#!/usr/bin/env bash
# Builds the golden program with g++ without optimization and with clang++ with all of it, and checks its values in each. (The tests'
# own builds are g++'s, with optimization.)
#   tests/golden/build_matrix.sh FOLDER   the builds go there
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1:?usage: build_matrix.sh FOLDER}
mkdir -p "$folder"
# Each in one piece: most of the time goes into headers.
printf '#include "%s"\n' "$root"/searchplan/sequence/*.cc > "$folder/sequence.cc"
printf '#include "%s"\n' "$root"/base/{check,digest,result,text}.cc > "$folder/base.cc"
sources=("$folder"/{sequence,base}.cc "$root/tests/golden/golden_sequence_values.cc")

failed=0
for build in 'g++ -O0' 'clang++ -O3'; do
  program=$folder/golden_${build/ /}
  # Contraction off, as in the project's build.
  nice $build -std=c++20 -ffp-contract=off -I"$root" "${sources[@]}" -o "$program" -lxxhash -lcrypto
  if "$program" --check "$root/tests/golden/sequence_values.txt"; then
    echo "$build: the golden values"
  else
    echo "$build: other values" >&2
    failed=1
  fi
done
exit $failed
