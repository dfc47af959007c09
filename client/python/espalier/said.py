"""What is said to the user on standard error, which is the worker's log: once in a process, however many trainings it begins."""

import sys

_said = set()


def say_once(text):
    if text not in _said:
        _said.add(text)
        print(f"espalier: {text}", file=sys.stderr, flush=True)
