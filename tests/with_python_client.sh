#!/usr/bin/env bash
# with_python_client.sh SCRIPT ...: runs a Python script with an interpreter that has grpcio, protobuf, pandas and PyTorch:
# ESPALIER_PYTHON_CLIENT, else that of build/python_client. Ends with 77, "not run", when there is none.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export ESPALIER_PYTORCH=${ESPALIER_PYTHON_CLIENT:-$root/build/python_client/bin/python}
[ -x "$ESPALIER_PYTORCH" ] || { echo "not run: no $ESPALIER_PYTORCH, where grpcio, protobuf and PyTorch would be" >&2; exit 77; }
exec "$ESPALIER_PYTORCH" "$@"
