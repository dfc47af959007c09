#!/usr/bin/env bash
# Draws the plots of docs/sequences.md: each image there has, as its text, the expression and the steps to draw.
#   tools/plot_sequences.sh [ESPALIER]           the program, build/release/bin/espalier unless given
#   tools/plot_sequences.sh --check [ESPALIER]   draws elsewhere, and fails if the plots in docs/plots are others
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$root/docs/plots
check=no
if [ "${1-}" = --check ]; then
  check=yes
  shift
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
espalier=${1:-$root/build/release/bin/espalier}
mkdir -p "$folder"

# ![EXPRESSION, steps A:B](plots/NAME.svg)
while IFS=$'\t' read -r file steps expression; do
  expression=${expression//\\/}  # inside an image's text, brackets are written \[ and \]
  "$espalier" sequence show "$expression" --steps "$steps" --plot "$folder/$file" >/dev/null
done < <(sed -n 's/^!\[\(.*\), steps \([0-9]*:[0-9]*\)\](plots\/\(.*\.svg\))$/\3\t\2\t\1/p' "$root/docs/sequences.md")

if [ $check = yes ]; then diff -r "$folder" "$root/docs/plots"; fi
