#!/usr/bin/env bash
# with_adapters.sh SCRIPT ...: runs a Python script with an interpreter that has PyTorch, Lightning, transformers and accelerate:
# ESPALIER_ADAPTERS, else that of build/adapters. Nothing is fetched from a model hub. Ends with 77, "not run", when there is none.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export ESPALIER_PYTORCH=${ESPALIER_ADAPTERS:-$root/build/adapters/bin/python}
[ -x "$ESPALIER_PYTORCH" ] || { echo "not run: no $ESPALIER_PYTORCH, where Lightning, transformers and accelerate would be" >&2; exit 77; }
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 HF_DATASETS_OFFLINE=1 HF_HUB_DISABLE_TELEMETRY=1
exec "$ESPALIER_PYTORCH" "$@"
