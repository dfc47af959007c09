"""Espalier's Python package: a service that trains trees, not trials. `import espalier as es`.

Two halves, of which a process loads what it uses: the client, which drives studies (`es.connect()`, docs/python_client.md) and needs grpcio
and protobuf, and what brings PyTorch code to the service (`es.Trainer`, docs/python_trainers.md), which needs PyTorch."""

import importlib

__version__ = "0.1.0"  # of everything: CMakeLists.txt reads it, too

# Name -> where it is; where another name is meant, "module:name". Loaded when it is first asked for.
_PLACES = {
    **dict.fromkeys(["Constant", "Cooldown", "Cosine", "CyclicLR", "Every", "Exponential", "InverseSqrt", "Linear", "LinearTo",
                     "MultiStep", "OneCycle", "OneCyclePhase", "Piecewise", "Polynomial", "Scale", "Sinusoid", "Step", "Table",
                     "WSD", "Warmup"], "sequences.families"),
    "Sequence": "sequences.sequence",
    "parse": "sequences.notation",
    **dict.fromkeys(["Range", "choice", "integer", "loguniform", "uniform"], "sequences.ranges"),
    **dict.fromkeys(["Grid", "Space"], "sequences.spaces"),
    **dict.fromkeys(["Aborted", "AlreadyExists", "Error", "FailedPrecondition", "InvalidArgument", "NotFound", "ResourceExhausted",
                     "TrialCancelled", "TrialFailed", "Unauthenticated", "Unavailable", "WrongVersion"], "errors"),
    **dict.fromkeys(["Client", "connect"], "client.client"),
    **dict.fromkeys(["Future", "as_completed", "wait_all", "wait_any"], "client.future"),
    **dict.fromkeys(["Service", "up"], "client.local_service"),
    "Evaluation": "client.evaluation",
    "Forecast": "client.forecast",
    **dict.fromkeys(["ASHA", "EarlyStop", "GridSearch", "Hyperband", "Median", "PBT", "Random", "SHA", "TPE"], "client.tuners"),
    "RetryPolicy": "client.retry",
    "Run": "client.runs",
    "Study": "client.study",
    "Trial": "client.trial",
    "DataLoader": "loader:ResumableLoader",  # for scripts that change nothing but the import
    "ResumableLoader": "loader",
    "Finished": "failure",
    "Trainer": "trainer",
    "files": "identity",
    "heartbeat": "progress",
    "once": "loaded_once",
    **dict.fromkeys(["initial", "sequence"], "hyper_parameters"),
    **dict.fromkeys(["batches", "evaluate", "loop", "report", "setup", "steps", "track"], "loop_form"),
}  # fmt: skip
_MODULES = ("accelerate", "export", "lightning", "optuna", "transformers")  # each for other tools, which it imports
# What may be missing, and how it is installed.
_NEEDED = {
    "torch": "PyTorch: pip install 'espalier-hpo[torch]', or the build for your device from pytorch.org",
    "grpc": "grpcio: pip install grpcio protobuf",
    "google.protobuf": "protobuf: pip install grpcio protobuf",
    "optuna": "Optuna: pip install 'espalier-hpo[optuna]'",
    "google": "protobuf: pip install grpcio protobuf",
}

__all__ = list(_PLACES)


def __getattr__(name):
    if name not in _PLACES and name not in _MODULES:
        raise AttributeError(f"module 'espalier' has no attribute {name!r}")
    module, _, own_name = _PLACES.get(name, "").partition(":")
    try:
        if name in _MODULES:
            return importlib.import_module(f"espalier.{name}")
        value = globals()[name] = getattr(importlib.import_module(f"espalier.{module}"), own_name or name)
    except ModuleNotFoundError as error:
        if error.name not in _NEEDED:
            raise
        raise ModuleNotFoundError(f"es.{name} needs {_NEEDED[error.name]}", name=error.name) from None
    return value


def __dir__():
    return sorted({*globals(), *_PLACES, *_MODULES})
