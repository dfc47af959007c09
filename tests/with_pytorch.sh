#!/usr/bin/env bash
# with_pytorch.sh SCRIPT ...: runs a Python script with an interpreter that has PyTorch: ESPALIER_PYTORCH, else that of build/pytorch.
# Ends with 77, which means "not run", when there is none.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export ESPALIER_PYTORCH=${ESPALIER_PYTORCH:-$root/build/pytorch/bin/python}
[ -x "$ESPALIER_PYTORCH" ] || { echo "not run: no $ESPALIER_PYTORCH, where PyTorch would be" >&2; exit 77; }
exec "$ESPALIER_PYTORCH" "$@"
