#!/usr/bin/env bash
# with_bridges.sh SCRIPT ...: runs a Python script with an interpreter that has MLflow, Weights & Biases, MCP and Hydra besides what
# with_python_client.sh has: ESPALIER_BRIDGES, else that of build/bridges. None of them reaches for the network. Ends with 77, "not run", when
# there is none.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export ESPALIER_PYTORCH=${ESPALIER_BRIDGES:-$root/build/bridges/bin/python}
[ -x "$ESPALIER_PYTORCH" ] || { echo "not run: no $ESPALIER_PYTORCH, where MLflow, Weights & Biases, MCP and Hydra would be" >&2; exit 77; }
export WANDB_MODE=offline WANDB_ERROR_REPORTING=false MLFLOW_DISABLE_TELEMETRY=true DO_NOT_TRACK=true
exec "$ESPALIER_PYTORCH" "$@"
