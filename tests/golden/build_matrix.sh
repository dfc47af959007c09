#!/usr/bin/env bash
# Builds the golden program with g++ and clang++, without and with optimization, and checks its values in each build.
#   tests/golden/build_matrix.sh FOLDER   the builds go there
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${1:?usage: build_matrix.sh FOLDER}
mkdir -p "$folder"
sources=("$root"/searchplan/sequence/*.cc "$root"/base/{check,digest,result,text}.cc
  "$root/tests/golden/golden_sequence_values.cc")

failed=0
for compiler in g++ clang++; do
  for optimization in -O0 -O3; do
    program=$folder/golden_$compiler$optimization
    # Contraction off, as in the project's build.
    nice "$compiler" -std=c++20 -ffp-contract=off "$optimization" -I"$root" "${sources[@]}" -o "$program" -lxxhash -lcrypto
    if "$program" --check "$root/tests/golden/sequence_values.txt"; then
      echo "$compiler $optimization: the golden values"
    else
      echo "$compiler $optimization: other values" >&2
      failed=1
    fi
  done
done
exit $failed
