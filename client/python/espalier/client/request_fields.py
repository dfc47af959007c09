"""Names of inputs: where the master names one as it stands in requests, the user is told of the argument."""

import contextlib
import re

from espalier.errors import Error

ARGUMENTS = {"metric.name": "metric", "metric.goal": "goal", "evaluate.every": "evaluate_every", "evaluate_every_steps": "evaluate_every",
             "scope": "share", "reuse_from_study_id": "reuse_from", "reuse_until_step": "reuse_from",
             "reference_digest": "trainer", "study": "name"}  # fmt: skip
IN_FORECAST = re.compile(r"studies\[\d+\]\.?(study\.)?")


@contextlib.contextmanager
def said_as_arguments():
    """Errors that are raised inside name the arguments of `client.study(...)`."""
    try:
        yield
    except Error as error:
        field = IN_FORECAST.sub("", error.field, count=1)
        raise type(error)(error.message, ARGUMENTS.get(field, field)) from None
