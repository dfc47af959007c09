"""Pictures of studies, with matplotlib: in the colours of its style, dark or light. Nothing else of the package imports it."""

try:
    import matplotlib  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "matplotlib":
        raise
    raise ModuleNotFoundError('plots need matplotlib: pip install "espalier-hpo[plot]"', name=error.name) from None
