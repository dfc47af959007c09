"""A trainer that cannot be imported, for test_python_trainer.py."""

import no_such_package  # noqa: F401


class Broken:
    pass
