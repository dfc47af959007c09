#!/usr/bin/env bash
# worker_alone.sh BUILD: builds the worker alone in the folder BUILD, with the LibTorch that an installed PyTorch brings, and runs
# its tests. With the interpreter of ESPALIER_PYTORCH, else of build/pytorch; ends with 77, which means "not run", without PyTorch.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
python=${ESPALIER_PYTORCH:-$root/build/pytorch/bin/python}
[ -x "$python" ] || { echo "not run: no $python, where PyTorch would be" >&2; exit 77; }
torch=$("$python" -c 'import importlib.util, pathlib; print(pathlib.Path(importlib.util.find_spec("torch").origin).parent)')
cmake -S "$root" -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DESPALIER_WORKER_ALONE=ON -DESPALIER_TORCH_DIR="$torch" \
  -DCMAKE_CXX_COMPILER_LAUNCHER="env;CCACHE_BASEDIR=$root;CCACHE_NOHASHDIR=1;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache"
ninja -C "$1" -j2
ctest --test-dir "$1" --output-on-failure
